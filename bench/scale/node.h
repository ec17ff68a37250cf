// SPDX-License-Identifier: BSD-3-Clause
// node.h - a model of a node's caches: how long a core waits for a line, by where the line is.
//
//   core ── own cache ──┐
//   core ── own cache ──┴─ cluster's cache ──┐
//   ...                                      ├── socket's memory ──┐
//                       ── cluster's cache ──┘                     ├── other socket
//
// A line is in the own caches of `cores`, in the caches of `clusters`, or in memory only. One core,
// its `owner`, has written it last. A line serves one request at a time, `service_ns` each; a
// request takes `transfer_ns` by the distance of the nearest cluster that has the line. A store
// waits until the farthest holder has lost the line, in the core's store buffer, while the core
// goes on; stores of a core become visible in their order. Links of clusters and memories carry one
// line after the other. A cluster's cache drops its oldest line when it is full; a line that was
// stored into then goes to the memory.
//
// Times are nanoseconds of the modelled machine. Callers access in the order of their times.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "scale/description.h"

namespace nagaya::bench::scale {

constexpr uint32_t kCoresMax = 256;

struct Line {
  std::bitset<kCoresMax> cores;  // whose own caches have it
  uint64_t clusters = 0;         // whose caches have it, or own caches in them
  bool is_newer = false;         // than the memory has it
  int32_t owner = -1;            // the core that has written it last; -1: nobody
  double visible_ns = 0;         // when the last store reaches it
  double free_ns = 0;            // when it serves the next request
  std::vector<std::pair<uint32_t, uint64_t>> watchers;  // of simulation.h
};

class Node {
 public:
  explicit Node(const Description& machine);

  const Description& machine() const { return machine_; }
  // Returns the line of an address.
  Line& line(const void* address);

  struct Access {
    double done_ns;  // the line is there, or the store is visible
    bool is_own;     // it was in the core's own cache: nothing was moved
  };
  // `after_ns`: the address is not known before.
  Access load(uint32_t core, Line& line, double now_ns, double after_ns = 0);
  // `after_ns`: when earlier loads end. A core asks for the line only then, because it may have
  // predicted wrongly until then that the store is to be carried out.
  Access store(uint32_t core, Line& line, double now_ns, double after_ns);
  // Returns when all stores of the core are visible.
  double stores_visible_ns(uint32_t core) const { return stores_ns_[core]; }

 private:
  // Lines in the order in which a cache has taken them: it drops the oldest.
  struct Cache {
    std::deque<Line*> lines;
  };
  struct Source {
    double latency_ns;
    double service_ns;
    int32_t cluster;  // -1: memory
  };

  Source source_of(uint32_t core, const Line& line) const;
  double farthest_ns(uint32_t core, const Line& line) const;
  double pass_links(uint32_t core, const Source& source, double now_ns);
  double pass_memory(uint32_t socket, double now_ns);
  double pass(double& free_ns, double gbs, double now_ns) const;
  void keep(uint32_t core, Line& line, double now_ns);

  const Description machine_;
  static constexpr uint64_t kPageLines = 64;
  std::unordered_map<uint64_t, std::unique_ptr<std::array<Line, kPageLines>>> pages_;
  uint64_t last_page_ = UINT64_MAX;
  std::array<Line, kPageLines>* last_lines_ = nullptr;
  std::vector<double> stores_ns_;             // by core: when its last store becomes visible
  std::vector<double> links_ns_, memory_ns_;  // by cluster, socket: when they are free
  std::vector<Cache> core_caches_, cluster_caches_;
};

}  // namespace nagaya::bench::scale
