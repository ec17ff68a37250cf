// SPDX-License-Identifier: BSD-3-Clause
// stepped_process.h - a process that shares this process's memory, as a task does, and executes an
// operation one machine instruction at a time, so that a test can kill it at each.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "arch/arch.h"
#include "base/fd.h"

#if defined(NAGAYA_SANITIZE_THREAD)
#define SKIP_UNDER_THREAD_SANITIZER() \
  GTEST_SKIP() << "ThreadSanitizer cannot follow a process that shares its memory"
#else
#define SKIP_UNDER_THREAD_SANITIZER() static_cast<void>(0)
#endif

namespace nagaya {

// Returns the number of instructions between two kills: 1 with NAGAYA_FULL=1. An operation of n
// instructions takes n * n / 2 single steps then, each of 5 to 30 us, depending on the machine;
// instrumented code has ten times the instructions.
inline int stride() {
#if defined(NAGAYA_SANITIZED)
  return 29;
#else
  return std::getenv("NAGAYA_FULL") != nullptr ? 1 : 7;
#endif
}

class SteppedProcess {
 public:
  // `operation` must not use libc's state: the process has the thread pointer of its parent.
  SteppedProcess(void (*operation)(void*), void* argument)
      : stack_(base::reserve_memory(kStackBytes, "stack")),
        operation_(operation),
        argument_(argument) {
    pid_ = ::clone(run, stack_.data() + stack_.bytes(), CLONE_VM | SIGCHLD, this);
    EXPECT_GT(pid_, 0);
    can_step_ = wait_for_stop() && may_trace();
  }
  ~SteppedProcess() { kill(); }
  SteppedProcess(const SteppedProcess&) = delete;
  SteppedProcess& operator=(const SteppedProcess&) = delete;

  bool can_step() const { return can_step_; }

  // Executes so many instructions. Returns false if the operation has completed before.
  bool step(int instructions) {
    for (int n = 0; n < instructions && !done_; ++n)
      if (::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0 || !wait_for_stop())
        return false;
    return !done_;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    int status;
    while (::waitpid(pid_, &status, 0) == pid_ && !WIFSIGNALED(status) && !WIFEXITED(status)) {
    }
    pid_ = -1;
  }

 private:
  static constexpr size_t kStackBytes = 256 << 10;

  static int run(void* argument) {
    auto* self = static_cast<SteppedProcess*>(argument);
    arch::raw_syscall(__NR_ptrace, PTRACE_TRACEME, 0, 0, 0);
    stop();
    self->operation_(self->argument_);
    self->done_ = true;
    stop();
    arch::raw_syscall(__NR_exit, 0);
    return 0;
  }
  static void stop() { arch::raw_syscall(__NR_kill, arch::raw_syscall(__NR_getpid), SIGSTOP); }

  bool wait_for_stop() const {
    int status;
    return ::waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status);
  }
  bool may_trace() const {
    errno = 0;  // the word that is read may be -1
    return ::ptrace(PTRACE_PEEKUSER, pid_, nullptr, nullptr) != -1 || errno == 0;
  }

  base::Mapping stack_;
  void (*operation_)(void*);
  void* argument_;
  volatile bool done_ = false;
  pid_t pid_;
  bool can_step_;
};

}  // namespace nagaya
