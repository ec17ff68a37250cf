// SPDX-License-Identifier: BSD-3-Clause
// arch.h - everything that depends on the CPU. One folder per CPU holds the same file names:
//
//   raw_syscall.h     a system call without libc (no errno, no TLS)
//   entry.S           clone into a function, enter a program, the redirection stubs
//   redirect_site.cc  finds system-call sites in machine code
//   answer_site.cc    finds cpuid instructions, which cpuid.cc then answers from memory
//   rewrite_site.cc   rewrites both kinds of sites
//   wide_vectors.cc   whether the processor has vectors that not all of its architecture have
//   streaming_copy.cc a copy past the caches (streaming_copy.h)
//
// All functions here may run where libc may not (between clone and the jump, inside a task's
// redirected call), except those of redirect_site.cc and answer_site.cc, which run in the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "arch/x86_64/raw_syscall.h"

namespace nagaya::arch {

// A redirected system call as the stub passes it: the registers of the system call, and the address
// in the task's libc behind the call.
struct SyscallFrame {
  unsigned long number;
  unsigned long args[6];
  unsigned long return_address;
};

// One place where machine code makes a system call: `number` is loaded, up to a few independent
// instructions follow, then the kernel is entered.
struct RedirectSite {
  uint32_t offset_bytes;  // from the start of the given text to the first rewritten byte
  uint32_t window_bytes;  // number of bytes that are rewritten
  uint32_t number;        // the system call, or one of kCpuidSite, kCpuidSiteBelowRedZone
  uint32_t slot;          // index into the table through which the rewritten site calls
};

// A cpuid instead of a system call. At a site of the first kind the call may overwrite the red
// zone; at one of the second it must stay below it.
inline constexpr uint32_t kCpuidSite = UINT32_MAX;
inline constexpr uint32_t kCpuidSiteBelowRedZone = UINT32_MAX - 1;

// The system calls that can be redirected.
inline constexpr unsigned kRedirectable[] = {
    kSysMmap,     kSysMunmap, kSysMremap,  kSysShmat, kSysShmdt,  kSysReadlink, kSysReadlinkat,
    kSysMprotect, kSysExecve, kSysMadvise, kSysMlock, kSysMlock2, kSysMunlock,  kSysPkeyMprotect};

// The number in a frame, in place of kSysMprotect, when its site calls through kLinkerMprotectSlot.
// The mprotect sites of a dynamic linker do so.
inline constexpr unsigned kLinkerMprotect = 0x10000000 | kSysMprotect;

// The table holds the addresses of: the stubs of the redirectable calls, the stub of a linker's
// mprotect, the stub of cpuid, then the thunks of answered sites.
inline constexpr size_t kTableBytes = 4096;
inline constexpr size_t kLinkerMprotectSlot = std::size(kRedirectable);
inline constexpr size_t kCpuidSlot = kLinkerMprotectSlot + 1;

// Returns the sites in `text` whose rewriting is proved safe by disassembly: the window is decoded
// to whole instructions, nothing branches into its middle, and no red zone is in use around it.
std::vector<RedirectSite> find_redirect_sites(std::span<const std::byte> text);

// Maps the table through which rewritten sites call, at an address that every site can reach
// (x86-64: below 2 GiB). Once per host, before the first task. Returns its address, 0 when no
// such address is free.
uintptr_t install_redirect_table();

// Returns the cpuid sites in `text` whose rewriting is proved safe. Makes their thunks, for the
// life of the host, and enters them into the table. Callable by one thread of the host at a time.
std::vector<RedirectSite> make_answer_sites(std::span<const std::byte> text, uintptr_t table);

struct CpuidRegisters {
  uint32_t eax, ebx, ecx, edx;
};

// Returns whether this processor and kernel have the vectors that CMake's target
// nagaya_wide_vectors compiles for (x86-64: AVX2). Takes microseconds in a virtual machine.
bool has_wide_vectors();

// Rewrites `window`, the bytes of `site` (writable now), to call through `table`. Freestanding.
void rewrite_site(std::byte* window, const RedirectSite& site, uintptr_t table);

}  // namespace nagaya::arch

extern "C" {
// clone3(args, args_bytes); the child runs function(argument) on the stack that args names.
// Returns the child's pid or -errno in the parent. Never returns in the child.
long nagaya_arch_clone3(void* args, size_t args_bytes, void (*function)(void*), void* argument);

// Does the work of nagaya_arch_clone3() by clone(flags, stack_top), for kernels or filters without
// clone3.
long nagaya_arch_clone(unsigned long flags, void* stack_top, void (*function)(void*),
                       void* argument);

// Starts a program: clears the thread pointer and the registers, sets the stack, jumps.
[[noreturn]] void nagaya_arch_enter(uintptr_t entry, uintptr_t stack_pointer);

// The stubs call this for every redirected call, on the calling task's thread and stack. It may use
// only general registers. Returns the system call's result: a value or -errno.
long nagaya_redirect(const nagaya::arch::SyscallFrame* frame);

// The thunks call this for every answered cpuid: eax and ecx in, all four out. It may use only
// general registers.
void nagaya_cpuid(nagaya::arch::CpuidRegisters* registers);
}
