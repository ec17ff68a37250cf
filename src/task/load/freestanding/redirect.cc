// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/freestanding/redirect.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "task/load/freestanding/execution.h"
#include "task/load/freestanding/library.h"
#include "task/load/freestanding/mapping.h"
#include "task/load/freestanding/partition.h"

namespace nagaya::task {

SpaceHeader* redirect_space = nullptr;

namespace {

using arch::raw_syscall;

// Prints, once per space, that the space has reached vm.max_map_count, against which all its tasks
// count. Called by the task that met the limit: its malloc fails next without naming the cause.
void explain_failure(const SpaceHeader& space) {
  static constexpr char kText[] =
      "nagaya: no more mappings: the tasks of a space share vm.max_map_count; raise it with "
      "`sysctl -w vm.max_map_count=1048576`, or use `nagaya run --separate`\n";
  // The call may have failed for other reasons (too many bytes, no huge pages, a limit of the
  // program's own). In these cases one page can be mapped, or RLIMIT_AS is set.
  const long page =
      raw_syscall(__NR_mmap, 0, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!failed(page)) {
    raw_syscall(__NR_munmap, page, kPageBytes);
    return;
  }
  rlimit limit;
  raw_syscall(__NR_prlimit64, 0, RLIMIT_AS, nullptr, &limit);
  if (limit.rlim_cur != RLIM_INFINITY) return;
  auto& said = const_cast<std::atomic<uint32_t>&>(space.said_no_mappings);
  if (said.exchange(1, std::memory_order_relaxed) == 0)
    raw_syscall(__NR_write, 2, kText, sizeof kText - 1);
}

long map_or_explain(TaskRecord& task, const arch::SyscallFrame& call) {
  const long result = map_possible_library(task, call);
  if (result == -ENOMEM) explain_failure(*task.space);
  return result;
}

// Returns the rest of `path` behind `prefix`, nullptr if `path` does not begin with it.
const char* behind(const char* path, const char* prefix) {
  for (; path != nullptr && *prefix != '\0'; ++path, ++prefix)
    if (*path != *prefix) return nullptr;
  return path;
}

// Returns true for /proc/self/exe, and for /proc/PID/exe, to which realpath turns it.
bool is_own_executable(const char* path) {
  const char* at = behind(path, "/proc/");
  const char* rest = behind(at, "self/exe");
  if (at != nullptr && rest == nullptr) {
    long pid = 0;
    while (*at >= '0' && *at <= '9' && pid < 1 << 30) pid = 10 * pid + (*at++ - '0');
    rest = pid == raw_syscall(__NR_getpid) ? behind(at, "/exe") : nullptr;
  }
  return rest != nullptr && *rest == '\0';
}

uint64_t length_of(const char* text) {
  uint64_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

// Answers with the task's program, also in its forked children: the kernel would name the host.
long read_link(TaskRecord& task, const arch::SyscallFrame& call, unsigned path) {
  // If the kernel succeeds, the pointer to the path is valid.
  char first;
  arch::SyscallFrame probe = call;
  probe.args[path + 1] = reinterpret_cast<unsigned long>(&first);
  probe.args[path + 2] = 1;
  if (static_cast<int>(call.args[path + 2]) <= 0 || failed(pass_to_kernel(probe)) ||
      !is_own_executable(reinterpret_cast<const char*>(call.args[path])))
    return pass_to_kernel(call);
  // The kernel checks the buffer. It must not write more bytes than the loop below overwrites.
  const uint64_t length = length_of(task.program);
  arch::SyscallFrame shorter = call;
  if (length < call.args[path + 2]) shorter.args[path + 2] = length;
  const long result = pass_to_kernel(shorter);
  if (failed(result)) return result;
  auto* out = reinterpret_cast<volatile char*>(call.args[path + 1]);
  for (uint64_t n = 0; n < shorter.args[path + 2]; ++n) out[n] = task.program[n];
  return static_cast<long>(shorter.args[path + 2]);
}

// Executes the task's program for /proc/self/exe: programs execute themselves again to change their
// limits or environment.
long execute(TaskRecord& task, const arch::SyscallFrame& call) {
  char first;
  arch::SyscallFrame own = call;
  if (!failed(raw_syscall(__NR_readlink, call.args[0], &first, 1)) &&
      is_own_executable(reinterpret_cast<const char*>(call.args[0])))
    own.args[0] = reinterpret_cast<unsigned long>(task.program);
  const bool is_for_rank =
      task.stands_for >= 0 && task.communicates.load(std::memory_order_relaxed) == 0;
  return is_for_rank ? execute_for_rank(task, own) : pass_to_kernel(own);
}

}  // namespace
}  // namespace nagaya::task

long nagaya_redirect(const nagaya::arch::SyscallFrame* frame) {
  using namespace nagaya::task;
  const int64_t number = number_of(*redirect_space, frame->return_address);
  if (number < 0) return pass_to_kernel(*frame);
  TaskRecord& task = *redirect_space->record(static_cast<uint32_t>(number));
  switch (frame->number) {
    case nagaya::arch::kSysMmap:
      return map_or_explain(task, *frame);
    case nagaya::arch::kSysMunmap:
      return unmap(task, *frame);
    case nagaya::arch::kSysMremap:
      return remap(task, *frame);
    case nagaya::arch::kSysShmat:
      return attach_segment(task, *frame);
    case nagaya::arch::kSysShmdt:
      return detach_segment(task, *frame);
    case nagaya::arch::kLinkerMprotect: {
      nagaya::arch::SyscallFrame call = *frame;
      call.number = nagaya::arch::kSysMprotect;
      return protect_library(task, call);
    }
    case nagaya::arch::kSysMprotect:
    case nagaya::arch::kSysPkeyMprotect:
    case nagaya::arch::kSysMadvise:
    case nagaya::arch::kSysMlock:
    case nagaya::arch::kSysMlock2:
    case nagaya::arch::kSysMunlock:
      return change_if_not_foreign(task, *frame);
    case nagaya::arch::kSysReadlink:
      return read_link(task, *frame, 0);
    case nagaya::arch::kSysReadlinkat:
      return read_link(task, *frame, 1);
    case nagaya::arch::kSysExecve:
      return execute(task, *frame);
    default:
      return pass_to_kernel(*frame);
  }
}
