// SPDX-License-Identifier: BSD-3-Clause
// smaps.h - reads the kernel's record of a mapping of this process (/proc/self/smaps).
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace nagaya {

// Returns a field of the mapping that holds `address`, as in /proc/PID/smaps: for "VmFlags:" it is
// " rd wr mr dd ".
inline std::string smaps_field(const void* address, std::string_view name) {
  std::ifstream smaps("/proc/self/smaps");
  const auto at = reinterpret_cast<uintptr_t>(address);
  bool is_here = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) is_here = begin <= at && at < end;
    if (is_here && line.starts_with(name)) return line.substr(name.size()) + " ";
  }
  return "";
}

inline bool is_left_out_of_core_files(const void* address) {
  return smaps_field(address, "VmFlags:").find(" dd ") != std::string::npos;
}

// Returns the size of the part of the mapping that huge pages back.                    [KiB]
inline long in_huge_pages(const void* address) {
  return std::stol(smaps_field(address, "AnonHugePages:"));
}

}  // namespace nagaya
