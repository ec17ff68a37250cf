// SPDX-License-Identifier: BSD-3-Clause
// core_target.h - `nagaya gdb --core` reads any bytes as a core file.
#pragma once

#include <sys/mman.h>

#include "observe/task_core.h"
#include "targets.h"

namespace nagaya::fuzz {

inline void read_core(const uint8_t* data, size_t bytes) {
  const base::Fd file(::memfd_create("core", MFD_CLOEXEC));
  if (!file || ::write(file.get(), data, bytes) != static_cast<ssize_t>(bytes)) return;
  try {
    const tools::CoreTask task =
        tools::read_task_core("/proc/self/fd/" + std::to_string(file.get()));
    if (task.program.size() > bytes) std::abort();
  } catch (const base::Error& error) {
    if (error.code() != -ENOEXEC) undocumented(error);
  }
}

}  // namespace nagaya::fuzz
