// SPDX-License-Identifier: BSD-3-Clause
// process_state.h - the state of a process in the kernel's words.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <iterator>
#include <string>

namespace nagaya {

// Returns 'R', 'S', 'T', 'Z' ... as /proc/PID/stat has it; ' ' if there is no such process.
inline char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t bracket = text.rfind(") ");
  return bracket == std::string::npos ? ' ' : text[bracket + 2];
}

}  // namespace nagaya
