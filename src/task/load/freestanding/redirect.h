// SPDX-License-Identifier: BSD-3-Clause
// redirect.h - carries out the redirected system calls of a task (docs/tasks.md lists them): places
// its mappings in its partition, refuses access to another task's partition, and makes
// /proc/self/exe name the task's own program.
//
// Freestanding: this code runs on a task's thread, inside its system call, with the task's stack
// and thread pointer. No libc, no TLS, no vector registers, no exception.
#pragma once

#include "task/space/space.h"

namespace nagaya::task {

// The space of this host; set once, before the first task. nullptr in every other process.
extern SpaceHeader* redirect_space;

}  // namespace nagaya::task
