// SPDX-License-Identifier: BSD-3-Clause
// refused_call.h - code under test meets a kernel that refuses it one system call.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <thread>

namespace nagaya {

inline std::atomic<int> refused_calls{0};

// Runs `act` in a thread in which the system calls of these numbers fail with `error`. Returns how
// many did.
template <class Act>
int in_thread_that_refuses(std::initializer_list<unsigned> numbers, int error, Act act) {
  static std::atomic<int> refused_with;
  refused_with = error;
  refused_calls = 0;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    ++refused_calls;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -refused_with;
  };
  struct sigaction before {};
  ::sigaction(SIGSYS, &action, &before);
  std::thread([&] {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (const unsigned number : numbers) {
      sock_filter code[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      const sock_fprog filter{std::size(code), code};
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    }
    act();
  }).join();
  ::sigaction(SIGSYS, &before, nullptr);
  return refused_calls;
}

}  // namespace nagaya
