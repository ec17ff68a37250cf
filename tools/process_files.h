// SPDX-License-Identifier: BSD-3-Clause
// process_files.h - reads /proc about hosts and tasks. All tasks of a job share one address
// space, so that whichever of them is asked, /proc/PID/maps shows the memory of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nagaya::tools {

// Addresses [begin, end).
struct Span {
  uint64_t begin, end;
  bool holds(uint64_t address) const { return begin <= address && address < end; }
};

struct FileMapping {
  Span addresses;
  uint64_t file_offset_bytes;
  std::string path;
};

// The mappings of files, ascending. Throws Error when they cannot be read.
std::vector<FileMapping> file_mappings(int pid);

// One group of addresses whose memory is to be added up: one task's partition.
struct Partition {
  Span home, range;
};

// Proportional shares, in which a page that several processes map counts once in all [bytes].
struct MemoryUse {
  uint64_t total_bytes = 0;
  std::vector<uint64_t> partition_bytes;  // in the order asked
  uint64_t mappings = 0;
};
// Reads /proc/PID/smaps once. nullopt when that is not allowed, or the process is gone.
std::optional<MemoryUse> memory_use(int pid, const std::vector<Partition>& partitions);

std::optional<uint64_t> page_table_bytes(int pid);
std::optional<uint64_t> max_map_count();
// "" when the process is gone.
std::string command_name(int pid);

struct ProcessState {
  char letter;  // as in proc(5): R, S, D, T, t, Z
  double cpu_s;
};
std::optional<ProcessState> process_state(int pid);

// The number after "<field>:" in /proc/PID/status.
std::optional<uint64_t> status_number(int pid, const std::string& field);

}  // namespace nagaya::tools
