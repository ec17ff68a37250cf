// SPDX-License-Identifier: BSD-3-Clause
// process_files.h - reads /proc about hosts and tasks. All tasks of a job share one address
// space, so /proc/PID/maps of any of them shows the memory of all.
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

// Returns the mappings of files, by ascending address. Throws Error when they cannot be read.
std::vector<FileMapping> file_mappings(int pid);

// The addresses of one task's partition, whose memory memory_use() adds up.
struct Partition {
  Span home, range;
};

// Memory by proportional shares: a page that several processes map counts once in their sum.
struct MemoryUse {
  uint64_t total_bytes = 0;
  std::vector<uint64_t> partition_bytes;  // in the order asked
  uint64_t mappings = 0;
};
// Reads /proc/PID/smaps once. nullopt when that is not allowed, or the process is gone.
std::optional<MemoryUse> memory_use(int pid, const std::vector<Partition>& partitions);

// The memory of the process's page tables, and the limit vm.max_map_count. nullopt when the file in
// /proc cannot be read.
std::optional<uint64_t> page_table_bytes(int pid);
std::optional<uint64_t> max_map_count();
// Returns the name of the process's command; "" when the process is gone.
std::string command_name(int pid);

struct ProcessState {
  char letter;  // as in proc(5): R, S, D, T, t, Z
  double cpu_s;
};
std::optional<ProcessState> process_state(int pid);

// Returns the number after "<field>:" in /proc/PID/status.
std::optional<uint64_t> status_number(int pid, const std::string& field);

}  // namespace nagaya::tools
