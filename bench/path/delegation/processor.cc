// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>

#include "delegation.h"

namespace nagaya::bench {
namespace {

namespace fs = std::filesystem;

// Returns the network namespace of a process. Empty: it has ended, or is another user's.
fs::path network_of(const fs::path& process) {
  std::error_code gone;
  return fs::read_symlink(process / "ns/net", gone);
}

// Returns the processor time of a process's threads, by `schedstat`, which counts nanoseconds;
// `stat` counts ticks.
uint64_t threads_ns(const fs::path& process) {
  uint64_t sum_ns = 0;
  std::error_code gone;
  for (const fs::directory_entry& thread : fs::directory_iterator(process / "task", gone)) {
    uint64_t run_ns = 0;
    if (std::ifstream(thread.path() / "schedstat") >> run_ns) sum_ns += run_ns;
  }
  return sum_ns;
}

std::string own_process() {
  return fs::read_symlink("/proc/self").filename();
}

bool is_process(const fs::path& entry) {
  return entry.filename().string().find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

NodeProcessor::ByProcess NodeProcessor::by_process() {
  ByProcess all;
  const fs::path own = network_of("/proc/self");
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc"))
    if (is_process(entry.path()) && network_of(entry.path()) == own)
      all[entry.path().filename()] = threads_ns(entry.path());
  return all;
}

// The caller's own time is read last here and first in seconds(): the walk through /proc is not
// part of what is measured.
NodeProcessor::NodeProcessor() : start_ns_(by_process()) {
  start_ns_[own_process()] = threads_ns("/proc/self");
}

double NodeProcessor::seconds() const {
  uint64_t sum_ns = threads_ns("/proc/self") - start_ns_.at(own_process());
  for (const auto& [process, now_ns] : by_process()) {
    if (process == own_process()) continue;
    const auto before = start_ns_.find(process);
    if (before != start_ns_.end() && now_ns > before->second) sum_ns += now_ns - before->second;
  }
  return static_cast<double>(sum_ns) * 1e-9;
}

}  // namespace nagaya::bench
