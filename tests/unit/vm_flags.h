// SPDX-License-Identifier: BSD-3-Clause
// vm_flags.h - what the kernel notes of a mapping of this process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace nagaya {

// The flags of the mapping that holds `address`, as in /proc/PID/smaps: " rd wr mr dd ".
inline std::string vm_flags(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto at = reinterpret_cast<uintptr_t>(address);
  bool is_here = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) is_here = begin <= at && at < end;
    if (is_here && line.starts_with("VmFlags:")) return line.substr(8) + " ";
  }
  return "";
}

inline bool is_left_out_of_core_files(const void* address) {
  return vm_flags(address).find(" dd ") != std::string::npos;
}

}  // namespace nagaya
