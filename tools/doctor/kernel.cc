// SPDX-License-Identifier: BSD-3-Clause
// kernel.cc - the kernel's abilities, and this process's right to use them. A call that
// a filter may forbid is tried, not looked up.
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "doctor/doctor.h"

namespace nagaya::tools::doctor {
namespace {

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif

using Version = std::pair<unsigned, unsigned>;
constexpr Version kOneDumpsAlone{5, 16};  // older kernels: a core dump ends all tasks of the space

// Calls clone3. Returns 0, or the errno with which the kernel refused.
int refusal_of_clone3() {
  clone_args args{};
  args.flags = CLONE_CLEAR_SIGHAND;
  args.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) ::_exit(0);
  if (pid < 0) return errno;
  ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return 0;
}

int do_nothing(void*) {
  return 0;
}

// Calls clone as the host does where clone3 is refused. Returns 0, or an errno. (vfork would not
// do: a filter may allow vfork alone.)
int refusal_of_clone() {
  constexpr size_t kStackBytes = 64 << 10;
  static char stack[kStackBytes];
  const pid_t pid = ::clone(do_nothing, stack + kStackBytes, CLONE_VM | SIGCHLD, nullptr);
  if (pid < 0) return errno;
  ::waitpid(pid, nullptr, 0);
  return 0;
}

// Writes to a private copy of a file's text and makes it executable, as a task's libc is changed.
// Returns 0, or an errno.
int refusal_of_changed_text() {
  const base::Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  void* text = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (text == MAP_FAILED) return errno;
  *static_cast<volatile char*>(text) = 0;
  return ::mprotect(text, 4096, PROT_READ | PROT_EXEC) == 0 ? 0 : errno;
}

// Maps a file in memory as executable from the start, as the host does where the first way is
// refused. Returns 0, or an errno.
int refusal_of_changed_copy() {
  const base::Fd copy(::memfd_create("nagaya-doctor", MFD_CLOEXEC));
  if (!copy || ::write(copy.get(), "", 1) != 1) return errno;
  void* text = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, copy.get(), 0);
  return text == MAP_FAILED ? errno : 0;
}

}  // namespace

Finding kernel_version(const Need&) {
  utsname about{};
  ::uname(&about);
  Version version{};
  std::sscanf(about.release, "%u.%u", &version.first, &version.second);
  const std::string name = fmt::format("Linux {}", about.release);
  if (version < kOneDumpsAlone)
    return {Level::kWarning,
            name +
                ": before 5.16 a task that dumps core would end all, so tasks leave no core "
                "files here and debuggers need root",
            "nagaya run --separate ... (to debug)"};
  return {Level::kOk, name + ": a crash ends one task, the others go on", ""};
}

Finding shared_memory_clone(const Need&) {
  // Tries clone3 first, as the host does. Its flags lie in memory, which no filter can read: if it
  // works at all, it can share memory.
  const bool has_clone3 = try_in_child(refusal_of_clone3) == 0;
  const int error = has_clone3 ? 0 : try_in_child(refusal_of_clone);
  if (error == 0) return {Level::kOk, "processes may share their memory", ""};
  return {Level::kProblem,
          fmt::format("processes may not share their memory ({})",
                      error < 0 ? "forbidden by a signal" : std::strerror(error)),
          "nagaya run --separate ..."};
}

// libc, too, starts threads and programs by clone3; only ENOSYS makes it use clone instead.
Finding clone3(const Need&) {
  const int error = try_in_child(refusal_of_clone3);
  if (error == 0) return {Level::kOk, "works", ""};
  if (error == ENOSYS || error == EINVAL)
    return {Level::kOk, fmt::format("refused ({}), clone serves instead", std::strerror(error)),
            ""};
  return {Level::kProblem,
          fmt::format("refused ({}), but libc uses clone instead after ENOSYS only",
                      error < 0 ? "by a signal" : std::strerror(error)),
          "docker run --security-opt seccomp=unconfined ... (or a filter that answers ENOSYS)"};
}

Finding changed_text(const Need&) {
  const int error = try_in_child(refusal_of_changed_text);
  if (error == 0) return {Level::kOk, "libc may be changed to map into a task's partition", ""};
  const std::string text = fmt::format("libc may not be changed in place ({})",
                                       error < 0 ? "forbidden by a signal" : std::strerror(error));
  if (try_in_child(refusal_of_changed_copy) == 0)
    return {Level::kOk, text + ": a changed copy serves, where gdb cannot break", ""};
  return {Level::kWarning,
          text + " nor copied: what a task has mapped is freed with the job, not with the task",
          "sudo setsebool -P selinuxuser_execmod 1 (SELinux; elsewhere without MDWE)"};
}

Finding debugger(const Need&) {
  const auto scope = first_number("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope || *scope == 0 || ::geteuid() == 0)
    return {Level::kOk, "gdb and strace may attach to running tasks", ""};
  return {Level::kWarning,
          fmt::format("kernel.yama.ptrace_scope is {}: gdb and strace may not attach to running "
                      "tasks",
                      *scope),
          sysctl_command("kernel.yama.ptrace_scope", 0)};
}

Finding core_files(const Need&) {
  const std::string pattern = first_line("/proc/sys/kernel/core_pattern").value_or("core");
  const std::string where = pattern.starts_with('|')
                                ? "go to " + pattern.substr(1, pattern.find(' ') - 1)
                                : fmt::format("are named {}", pattern.empty() ? "core" : pattern);
  return {Level::kOk, fmt::format("{} and hold the memory of all tasks", where), ""};
}

}  // namespace nagaya::tools::doctor
