// SPDX-License-Identifier: BSD-3-Clause
// first_stack.h - the stack that a program finds when it starts: arguments, environment and
// auxiliary vector, as the kernel's exec would write them.
#pragma once

#include <string>
#include <vector>

#include "task/load/elf_image.h"
#include "task/load/program.h"
#include "task/space/space.h"

namespace nagaya::task {

struct FirstStack {
  uint64_t top;  // address behind its highest byte
  uint64_t bytes;
};

// Maps a stack with unmapped gaps on both sides in the partition of `task`. `limit_bytes` is
// RLIMIT_STACK. Throws Error.
FirstStack map_first_stack(TaskRecord& task, uint64_t limit_bytes);

// Writes the initial stack of `image`, which is mapped with its virtual address 0 at `base`;
// `arguments` are its argv. Also sets task.program. Returns the stack pointer. Throws Error
// -E2BIG.
uint64_t write_first_stack(TaskRecord& task, const FirstStack& stack, const ElfImage& image,
                           uint64_t base, const std::vector<std::string>& arguments,
                           const ProgramText& text);

}  // namespace nagaya::task
