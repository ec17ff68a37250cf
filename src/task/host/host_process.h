// SPDX-License-Identifier: BSD-3-Clause
// host_process.h - how the program nagaya-host makes its own process fit to hold the memory of
// tasks.
#pragma once

namespace nagaya::task {

// Maps the page above the program break: then every growth of the break fails and every malloc
// falls back to mmap, although tasks have limits of their own. Throws Error.
void guard_the_break();

// Sets all signals to their defaults. posix_spawn leaves libc's two internal signals ignored, and
// every task would inherit that (a clone resets only handlers). Uses the bare system call, because
// libc's sigaction does not change these two.
void unignore_signals();

// Binds the host to all processors and raises its soft limits: the host needs many descriptors, and
// each task sets its own binding and limits.
void reset_affinity_and_limits();

// Before Linux 5.16 a task that dumps core ends all processes that share its memory (zap_process;
// since 5.16 only its own threads). On older kernels this makes the host and its tasks undumpable,
// so that the other tasks survive. The price: their /proc/PID belongs to root.
void forbid_core_dumps_on_old_kernels();

}  // namespace nagaya::task
