// SPDX-License-Identifier: BSD-3-Clause
// raw_syscall.h - system calls of x86-64 without libc.
#pragma once

#include <asm/unistd.h>

#include <cstdint>

namespace nagaya::arch {

inline constexpr unsigned kSysMmap = __NR_mmap;
inline constexpr unsigned kSysMunmap = __NR_munmap;
inline constexpr unsigned kSysMremap = __NR_mremap;
inline constexpr unsigned kSysMprotect = __NR_mprotect;
inline constexpr unsigned kSysShmat = __NR_shmat;
inline constexpr unsigned kSysShmdt = __NR_shmdt;
inline constexpr unsigned kSysReadlink = __NR_readlink;
inline constexpr unsigned kSysReadlinkat = __NR_readlinkat;
inline constexpr unsigned kSysExecve = __NR_execve;
inline constexpr unsigned kSysMadvise = __NR_madvise;
inline constexpr unsigned kSysMlock = __NR_mlock;
inline constexpr unsigned kSysMlock2 = __NR_mlock2;
inline constexpr unsigned kSysMunlock = __NR_munlock;
inline constexpr unsigned kSysPkeyMprotect = __NR_pkey_mprotect;

inline constexpr unsigned kElfMachine = 62;  // EM_X86_64

// Makes a system call with unchanged arguments (pointers and integers up to 64 bits). Returns the
// kernel's value, -errno on failure.
template <class... Args>
inline long raw_syscall(long number, Args... args) {
  static_assert(sizeof...(Args) <= 6);
  unsigned long a[6] = {(unsigned long)(args)...};
  register unsigned long r10 asm("r10") = a[3];
  register unsigned long r8 asm("r8") = a[4];
  register unsigned long r9 asm("r9") = a[5];
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// Can a program read its thread pointer by one instruction (RDFSBASE: Linux 5.9, Ivy Bridge)?
inline bool can_read_thread_pointer(unsigned long hwcap2) {
  return (hwcap2 & 2) != 0;
}

// Returns a number that is unique to the calling thread in its process, never 0.
inline uint64_t thread_identity(bool by_thread_pointer) {
  if (!by_thread_pointer) return static_cast<uint64_t>(raw_syscall(__NR_gettid));
  uint64_t pointer;
  asm volatile("rdfsbase %0" : "=r"(pointer));
  return pointer | 1;  // the pointer is 0 before libc has set it; it is always even
}

// The CPU's hint that this is a spin loop.
inline void relax() {
  asm volatile("pause" ::: "memory");
}

// The processor's time stamp counter, which grows at a constant rate. The processor may load it
// before earlier instructions have ended.
inline uint64_t ticks() {
  return __builtin_ia32_rdtsc();
}

// Prefetches a cache line that the caller will read soon; does not wait for it.
inline void prefetch(const void* line) {
  __builtin_prefetch(line);
}

// Prefetches a cache line that the caller will write soon; does not wait for it.
inline void prefetch_to_write(const void* line) {
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
}

// No later instruction begins before all earlier loads have completed.
inline void await_loads() {
  asm volatile("lfence" ::: "memory");
}

}  // namespace nagaya::arch
