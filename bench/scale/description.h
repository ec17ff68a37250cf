// SPDX-License-Identifier: BSD-3-Clause
// description.h - the figures of a machine that the model of a node needs (node.h). They are data:
// machines/NAME.json, where each figure names its source.
#pragma once

#include <cstdint>
#include <string>

namespace nagaya::bench::scale {

// How far apart two cores are. A cluster is a set of cores that share their last cache.
enum class Distance : uint8_t { kCluster, kSocket, kOther };
constexpr size_t kDistances = 3;

struct Description {
  std::string name, title;
  uint32_t sockets = 1, clusters = 1, cores = 1;  // clusters of a socket, cores of a cluster
  uint32_t line_bytes = 64;

  double access_ns = 0;  // an access to a line in the core's own cache, with its instructions
  double look_ns = 0;    // from a poll that finds a change to the code behind it
  double call_ns = 0;    // a collective's caller, and its way to the algorithm and back
  double reduce_ns = 0;  // a line's elements, added
  double transfer_ns[kDistances] = {};  // a line that a core at this distance has written
  double shared_ns = 0;                 // a line that the own cluster's cache has
  double memory_ns = 0;                 // a line that no cache has
  double service_ns[kDistances] = {};   // one line is handed out at most once in this time
  double outstanding = 1;               // lines that a core loads at a time, one by one,
  double short_outstanding = 1;         // in a short copy,
  double stream_outstanding = 1;        // in a long copy
  double short_store_outstanding = 1;   // lines of others that it takes to store, in a short copy
  double store_outstanding = 1;         // ... and in a long one
  double own_stream_ns = 0;             // a line of a copy in the own cache
  double cluster_gbs = 0;  // to and from a cluster                                        [GB/s]
  double memory_gbs = 0;   // of the memory of a socket, loaded and stored                 [GB/s]
  double core_cache_bytes = 0, cluster_cache_bytes = 0;
  double yield_ns = 0;  // sched_yield to another task on the core

  uint32_t clusters_of_all() const { return sockets * clusters; }
  uint32_t cores_of_all() const { return clusters_of_all() * cores; }
  uint32_t cluster_of(uint32_t core) const { return core / cores; }
  uint32_t socket_of(uint32_t core) const { return cluster_of(core) / clusters; }
  Distance distance(uint32_t cluster, uint32_t other) const {
    if (cluster == other) return Distance::kCluster;
    return cluster / clusters == other / clusters ? Distance::kSocket : Distance::kOther;
  }

  // Reads a description. Throws std::runtime_error, which names the file.
  static Description read(const std::string& file);
};

}  // namespace nagaya::bench::scale
