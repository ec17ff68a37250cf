// SPDX-License-Identifier: BSD-3-Clause
// host_process.h - how the program nagaya-host makes its own process fit to hold the memory of
// tasks.
#pragma once

namespace nagaya::task {

// Starts the program again and ends. The second process is nobody's child: acts of a launcher or a
// terminal on the processes below a proxy must not reach the host of all tasks.
//
// The second process has no memory below the program break. There is one break per address space,
// and every libc believes that it owns it: a task that lowers it (UCX does, to test its hooks)
// would unmap what the host has there. While the soft RLIMIT_DATA is 0, brk fails and mmap does not
// (the kernel allows that for valgrind's sake), which must hold before libc's first malloc.
//
// The second process lies above kSpaceEnd: with a large or unlimited stack the kernel would put its
// libraries and mappings (mmap_base) where the partitions of the tasks are. Tasks have a limit of
// their own for the stack. Throws Error.
void start_second_life(char** argv);

// Takes the page above the program break: every growth of it fails and every malloc falls back to
// mmap, although tasks have limits of their own. Throws Error.
void guard_the_break();

// Sets all signals to their defaults. posix_spawn leaves libc's two internal signals ignored, which
// every task would inherit (only handlers are reset by a clone); libc's own sigaction does not
// touch them.
void unignore_signals();

// Takes every processor and raises the soft limits: the host needs many descriptors, and tasks
// bring their own binding and limits.
void shed_inherited_limits();

// Before Linux 5.16 a task that dumps core ends all processes that share its memory (zap_process;
// since 5.16 only its own threads). There this process and its tasks become undumpable: the others
// go on. The price: their /proc/PID belongs to root.
void spare_the_others();

}  // namespace nagaya::task
