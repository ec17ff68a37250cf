// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process_files.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"

namespace nagaya::tools {
namespace {

std::string folder_of(int pid) {
  return "/proc/" + std::to_string(pid) + "/";
}

// Finds the partition that holds an address, in spans sorted by their begin.
class PartitionIndex {
 public:
  explicit PartitionIndex(const std::vector<Partition>& partitions) {
    for (size_t n = 0; n < partitions.size(); ++n)
      for (const Span& span : {partitions[n].home, partitions[n].range})
        entries_.push_back({span, n});
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.span.begin < b.span.begin; });
  }

  std::optional<size_t> find(uint64_t address) const {
    auto after = std::upper_bound(
        entries_.begin(), entries_.end(), address,
        [](uint64_t wanted, const Entry& entry) { return wanted < entry.span.begin; });
    if (after == entries_.begin() || !std::prev(after)->span.holds(address)) return std::nullopt;
    return std::prev(after)->partition;
  }

 private:
  struct Entry {
    Span span;
    size_t partition;
  };
  std::vector<Entry> entries_;
};

// Returns true for a line that names a mapping: only these begin with a hexadecimal digit in lower
// case.
bool names_mapping(const std::string& line) {
  return !line.empty() &&
         ((line[0] >= '0' && line[0] <= '9') || (line[0] >= 'a' && line[0] <= 'f'));
}

}  // namespace

std::vector<FileMapping> file_mappings(int pid) {
  const std::string name = folder_of(pid) + "maps";
  std::ifstream file(name);
  if (!file) base::throw_errno(name);
  std::vector<FileMapping> all;
  for (std::string line; std::getline(file, line);) {
    FileMapping mapping;
    int path_at = 0;
    const int fields = std::sscanf(
        line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n",
        &mapping.addresses.begin, &mapping.addresses.end, &mapping.file_offset_bytes, &path_at);
    if (fields != 3 || path_at == 0 || line.size() <= size_t(path_at) || line[path_at] != '/')
      continue;
    mapping.path = line.substr(path_at);
    all.push_back(std::move(mapping));
  }
  return all;
}

std::optional<MemoryUse> memory_use(int pid, const std::vector<Partition>& partitions) {
  const PartitionIndex index(partitions);
  std::ifstream file(folder_of(pid) + "smaps");
  MemoryUse use;
  use.partition_bytes.resize(partitions.size());
  std::optional<size_t> partition;
  for (std::string line; std::getline(file, line);) {
    if (names_mapping(line)) {
      ++use.mappings;
      partition = index.find(std::strtoull(line.c_str(), nullptr, 16));
    } else if (line.starts_with("Pss:")) {
      const uint64_t bytes = std::strtoull(line.c_str() + 4, nullptr, 10) << 10;
      use.total_bytes += bytes;
      if (partition) use.partition_bytes[*partition] += bytes;
    }
  }
  if (use.mappings == 0) return std::nullopt;
  return use;
}

std::optional<uint64_t> status_number(int pid, const std::string& field) {
  std::ifstream file(folder_of(pid) + "status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field + ":"))
      return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10);
  return std::nullopt;
}

std::optional<uint64_t> page_table_bytes(int pid) {
  const auto kib = status_number(pid, "VmPTE");
  return kib ? std::optional(*kib << 10) : std::nullopt;
}

std::optional<uint64_t> max_map_count() {
  std::ifstream file("/proc/sys/vm/max_map_count");
  uint64_t count = 0;
  return file >> count ? std::optional(count) : std::nullopt;
}

std::string command_name(int pid) {
  std::ifstream file(folder_of(pid) + "comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::optional<ProcessState> process_state(int pid) {
  std::ifstream file(folder_of(pid) + "stat");
  std::string line;  // stays empty, without an exception, if the process ends meanwhile
  std::getline(file, line);
  const size_t after_name = line.rfind(") ");
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(after_name + 2));
  ProcessState state{};
  fields >> state.letter;
  std::string skipped;
  for (int field = 4; field < 14; ++field) fields >> skipped;
  uint64_t user_ticks = 0, system_ticks = 0;
  if (!(fields >> user_ticks >> system_ticks)) return std::nullopt;
  state.cpu_s = double(user_ticks + system_ticks) / double(::sysconf(_SC_CLK_TCK));
  return state;
}

}  // namespace nagaya::tools
