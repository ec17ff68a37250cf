// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/freestanding/execution.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "task/load/freestanding/mapping.h"
#include "task/load/freestanding/partition.h"

namespace nagaya::task {
namespace {

using arch::raw_syscall;

constexpr size_t kBeginBytes = 256;  // of a file; the kernel's BINPRM_BUF_SIZE
constexpr size_t kWordsMax = 2048;   // a longer command is left to the kernel
constexpr int kMayExecute = 1;       // X_OK

bool may_execute(const char* path) {
  return !failed(raw_syscall(__NR_faccessat, AT_FDCWD, path, kMayExecute));
}

// Copies the first bytes of the file to `begin`, and fills up with zeros. Returns false if it
// cannot be read.
bool read_begin(const char* path, char (&begin)[kBeginBytes]) {
  const long fd = raw_syscall(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (failed(fd)) return false;
  const long bytes = raw_syscall(__NR_read, fd, begin, kBeginBytes);
  raw_syscall(__NR_close, fd);
  if (failed(bytes)) return false;
  for (size_t n = static_cast<size_t>(bytes); n < kBeginBytes; ++n) begin[n] = '\0';
  return true;
}

bool is_elf_of_this_machine(const char (&begin)[kBeginBytes]) {
  const auto& header = reinterpret_cast<const Elf64_Ehdr&>(begin);
  for (int n = 0; n < SELFMAG; ++n)
    if (begin[n] != ELFMAG[n]) return false;
  return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         header.e_machine == arch::kElfMachine;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Is the file a script with an interpreter that may be executed? Overwrites `begin`.
bool is_script(char (&begin)[kBeginBytes]) {
  if (begin[0] != '#' || begin[1] != '!') return false;
  size_t first = 2;
  while (first < kBeginBytes && is_blank(begin[first])) ++first;
  size_t end = first;
  while (end < kBeginBytes && !is_blank(begin[end]) && begin[end] != '\n' && begin[end] != '\0')
    ++end;
  if (end == first || end == kBeginBytes) return false;
  begin[end] = '\0';
  return may_execute(begin + first);
}

// Returns true if the kernel would execute the file, with the rights that this process has. Paths
// in /proc name descriptors, which may be closed by the execve.
bool can_be_handed_on(const char* path) {
  struct stat about;
  char begin[kBeginBytes];
  if (failed(raw_syscall(__NR_newfstatat, AT_FDCWD, path, &about, 0))) return false;
  const bool is_in_proc = path[0] == '/' && path[1] == 'p' && path[2] == 'r' && path[3] == 'o' &&
                          path[4] == 'c' && path[5] == '/';
  return S_ISREG(about.st_mode) && (about.st_mode & (S_ISUID | S_ISGID)) == 0 && !is_in_proc &&
         may_execute(path) && read_begin(path, begin) &&
         (is_elf_of_this_machine(begin) || is_script(begin));
}

// Executes nagaya-execute, with the words {itself, the host's socket, path, argv...}. Returns the
// error of the call, or if there are too many words.
[[gnu::noinline]] long hand_on(const SpaceHeader& space, const arch::SyscallFrame& call) {
  const auto* const argv = reinterpret_cast<const char* const*>(call.args[1]);
  const char* words[kWordsMax];
  words[0] = space.execute_tool;
  words[1] = space.host_socket;
  words[2] = reinterpret_cast<const char*>(call.args[0]);
  for (size_t n = 0;; ++n) {
    if (3 + n == kWordsMax) return -E2BIG;
    words[3 + n] = argv[n];
    if (argv[n] == nullptr) break;
  }
  arch::SyscallFrame tool = call;
  tool.args[0] = reinterpret_cast<unsigned long>(space.execute_tool);
  tool.args[1] = reinterpret_cast<unsigned long>(words);
  return pass_to_kernel(tool);
}

}  // namespace

long execute_for_rank(const TaskRecord& task, const arch::SyscallFrame& call) {
  const auto* const argv = reinterpret_cast<const char* const*>(call.args[1]);
  if (task.space->execute_tool[0] != '\0' && argv != nullptr && argv[0] != nullptr &&
      can_be_handed_on(reinterpret_cast<const char*>(call.args[0])))
    hand_on(*task.space, call);  // returns only if it has failed
  return pass_to_kernel(call);
}

}  // namespace nagaya::task
