// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "arch/arch.h"
#include "base/fd.h"

namespace nagaya::arch {
namespace {

constexpr size_t kStackBytes = 64 << 10;

struct Ran {
  volatile long value;
};

// In the clone, without a libc of its own: raw system calls only.
void store_and_exit(void* argument) {
  static_cast<Ran*>(argument)->value = 42;
  raw_syscall(__NR_exit, 7);
}

void expect_exit_7(long pid) {
  ASSERT_GT(pid, 0);
  int status;
  ASSERT_EQ(::waitpid(static_cast<pid_t>(pid), &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Clone3, RunsTheFunctionInTheSameMemory) {
  const base::Mapping stack = base::reserve_memory(kStackBytes, "stack");
  Ran ran{0};
  clone_args args{};
  args.flags = CLONE_VM;
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<uint64_t>(stack.data());
  args.stack_size = stack.bytes();
  expect_exit_7(nagaya_arch_clone3(&args, sizeof args, store_and_exit, &ran));
  EXPECT_EQ(ran.value, 42);
}

TEST(Clone3, ReturnsTheKernelsError) {
  clone_args args{};
  args.flags = ~0ull;
  EXPECT_EQ(nagaya_arch_clone3(&args, sizeof args, store_and_exit, nullptr), -EINVAL);
}

TEST(Clone, RunsTheFunctionInTheSameMemory) {
  const base::Mapping stack = base::reserve_memory(kStackBytes, "stack");
  Ran ran{0};
  expect_exit_7(
      nagaya_arch_clone(CLONE_VM | SIGCHLD, stack.data() + stack.bytes(), store_and_exit, &ran));
  EXPECT_EQ(ran.value, 42);
}

// The ABI: rbx, rbp, r12 to r15 belong to the caller.
TEST(Clone, KeepsTheRegistersOfItsCaller) {
  const base::Mapping stack = base::reserve_memory(kStackBytes, "stack");
  Ran ran{0};
  long pid;
  unsigned long kept;
  // Inputs that the call may change are outputs too.
  unsigned long rdi = CLONE_VM | SIGCHLD;
  void *rsi = stack.data() + stack.bytes(), *rdx = reinterpret_cast<void*>(&store_and_exit);
  void* rcx = &ran;
  asm volatile(
      "mov $0x1234, %%r12\n\t"
      "mov %%rsp, %%r13\n\t"
      "sub $128, %%rsp\n\t"
      "and $-16, %%rsp\n\t"
      "call nagaya_arch_clone\n\t"
      "mov %%r13, %%rsp\n\t"
      "mov %%r12, %[kept]"
      : "=a"(pid), [kept] "=&b"(kept), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+c"(rcx)
      :
      : "r8", "r9", "r10", "r11", "r12", "r13", "memory", "cc");
  expect_exit_7(pid);
  EXPECT_EQ(kept, 0x1234u);
}

}  // namespace
}  // namespace nagaya::arch
