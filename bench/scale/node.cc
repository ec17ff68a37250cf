// SPDX-License-Identifier: BSD-3-Clause
#include "scale/node.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace nagaya::bench::scale {

Node::Node(const Description& machine)
    : machine_(machine),
      stores_ns_(machine.cores_of_all()),
      links_ns_(machine.clusters_of_all()),
      memory_ns_(machine.sockets),
      core_caches_(machine.cores_of_all()),
      cluster_caches_(machine.clusters_of_all()) {
  if (machine.cores_of_all() > kCoresMax || machine.clusters_of_all() > 64)
    throw std::runtime_error(machine.name + ": more cores or clusters than the model has room for");
}

Line& Node::line(const void* address) {
  const uint64_t number = reinterpret_cast<uint64_t>(address) / machine_.line_bytes;
  const uint64_t page = number / kPageLines;
  if (page != last_page_) {
    auto& lines = pages_[page];
    if (lines == nullptr) lines = std::make_unique<std::array<Line, kPageLines>>();
    last_page_ = page;
    last_lines_ = lines.get();
  }
  return (*last_lines_)[number % kPageLines];
}

// Returns from where the core gets the line: its cluster, else the nearest one, else memory.
Node::Source Node::source_of(uint32_t core, const Line& line) const {
  const uint32_t own = machine_.cluster_of(core);
  if ((line.clusters >> own & 1) != 0) {
    const bool is_written_here = line.owner >= 0 && line.cores.count() == 1 &&
                                 line.cores[static_cast<size_t>(line.owner)] &&
                                 machine_.cluster_of(static_cast<uint32_t>(line.owner)) == own;
    return {is_written_here ? machine_.transfer_ns[0] : machine_.shared_ns, machine_.service_ns[0],
            static_cast<int32_t>(own)};
  }
  if (line.clusters == 0) return {machine_.memory_ns, 0, -1};
  // The owner's cluster answers while it has the line; else the nearest.
  uint32_t nearest = static_cast<uint32_t>(std::countr_zero(line.clusters));
  for (uint64_t bits = line.clusters; bits != 0; bits &= bits - 1) {
    const auto cluster = static_cast<uint32_t>(std::countr_zero(bits));
    if (machine_.distance(own, cluster) < machine_.distance(own, nearest)) nearest = cluster;
  }
  const auto distance = static_cast<size_t>(machine_.distance(own, nearest));
  return {machine_.transfer_ns[distance], machine_.service_ns[distance],
          static_cast<int32_t>(nearest)};
}

// Returns how long it takes until nobody else has the line.
double Node::farthest_ns(uint32_t core, const Line& line) const {
  const uint32_t own = machine_.cluster_of(core);
  const bool is_own_clusters = line.cores.none() && line.clusters == uint64_t{1} << own;
  if (is_own_clusters) return machine_.shared_ns;
  double farthest_ns = line.clusters == 0 ? machine_.memory_ns : 0;
  for (uint64_t bits = line.clusters; bits != 0; bits &= bits - 1) {
    const auto cluster = static_cast<uint32_t>(std::countr_zero(bits));
    const auto distance = machine_.distance(own, cluster);
    farthest_ns = std::max(farthest_ns, machine_.transfer_ns[static_cast<size_t>(distance)]);
  }
  return farthest_ns;
}

// A line that comes from elsewhere passes the links of both clusters, or of one and a memory, which
// carry lines in the order of the requests. Returns when the line has its turn.
double Node::pass_links(uint32_t core, const Source& source, double now_ns) {
  const uint32_t own = machine_.cluster_of(core);
  if (source.cluster == static_cast<int32_t>(own)) return now_ns;
  const double here_ns = pass(links_ns_[own], machine_.cluster_gbs, now_ns);
  const double there_ns = source.cluster >= 0 ? pass(links_ns_[static_cast<size_t>(source.cluster)],
                                                     machine_.cluster_gbs, now_ns)
                                              : pass_memory(machine_.socket_of(core), now_ns);
  return std::max(here_ns, there_ns);
}

double Node::pass_memory(uint32_t socket, double now_ns) {
  return pass(memory_ns_[socket], machine_.memory_gbs, now_ns);
}

// Takes a link or a memory for one line. Returns when the line has its turn.
double Node::pass(double& free_ns, double gbs, double now_ns) const {
  const double start_ns = std::max(free_ns, now_ns);
  free_ns = start_ns + machine_.line_bytes / gbs;
  return start_ns;
}

void Node::keep(uint32_t core, Line& line, double now_ns) {
  const auto drop_oldest = [this](Cache& cache, double bytes, auto drop) {
    while (static_cast<double>(cache.lines.size() * machine_.line_bytes) > bytes) {
      drop(*cache.lines.front());
      cache.lines.pop_front();
    }
  };
  const uint32_t cluster = machine_.cluster_of(core);
  if (!line.cores[core]) {
    core_caches_[core].lines.push_back(&line);
    drop_oldest(core_caches_[core], machine_.core_cache_bytes,
                [&](Line& old) { old.cores[core] = false; });
  }
  if ((line.clusters >> cluster & 1) == 0) {
    cluster_caches_[cluster].lines.push_back(&line);
    drop_oldest(cluster_caches_[cluster], machine_.cluster_cache_bytes, [&](Line& old) {
      old.clusters &= ~(uint64_t{1} << cluster);
      for (uint32_t n = 0; n < machine_.cores; ++n) old.cores[cluster * machine_.cores + n] = false;
      if (old.clusters == 0 && std::exchange(old.is_newer, false))
        pass_memory(machine_.socket_of(core), now_ns);
    });
  }
  line.cores[core] = true;
  line.clusters |= uint64_t{1} << cluster;
}

Node::Access Node::load(uint32_t core, Line& line, double now_ns, double after_ns) {
  if (line.cores[core]) return {now_ns, true};
  const Source source = source_of(core, line);
  const double start_ns =
      std::max({pass_links(core, source, now_ns), after_ns, line.visible_ns, line.free_ns});
  line.free_ns = start_ns + source.service_ns;
  keep(core, line, now_ns);
  return {start_ns + source.latency_ns, false};
}

Node::Access Node::store(uint32_t core, Line& line, double now_ns, double after_ns) {
  double& last_ns = stores_ns_[core];
  const bool is_owner = line.owner == static_cast<int32_t>(core);
  const bool is_own = is_owner && line.cores[core] && line.cores.count() == 1;
  double visible_ns = std::max({now_ns, after_ns, last_ns});
  // Stores that wait for the same line follow each other when it is there: loads of others that are
  // under way get all of them.
  const bool waits_already = is_owner && now_ns < line.visible_ns;
  if (!is_own && !waits_already) {
    const bool is_there = line.cores[core] || (line.clusters >> machine_.cluster_of(core) & 1) != 0;
    const double passed_ns = is_there ? now_ns : pass_links(core, source_of(core, line), now_ns);
    const double start_ns = std::max({passed_ns, after_ns, line.visible_ns, line.free_ns});
    visible_ns = std::max(visible_ns, start_ns + farthest_ns(core, line));
    const bool was_kept = line.cores[core];
    line.cores.reset();
    line.cores[core] = was_kept;
    line.clusters &= uint64_t{1} << machine_.cluster_of(core);
    keep(core, line, now_ns);
    line.owner = static_cast<int32_t>(core);
  }
  line.is_newer = true;
  line.visible_ns = last_ns = visible_ns;
  return {visible_ns, is_own};
}

}  // namespace nagaya::bench::scale
