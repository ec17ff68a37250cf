// SPDX-License-Identifier: BSD-3-Clause
// placement.h - shared structures lie on the memory node of whoever reads them: a task's mailbox on
// that of its processors, lanes on that of the delegatee's thread. By hwloc, and only on machines
// with several memory nodes.
#pragma once

#include <hwloc.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace nagaya::delegatee {

class Placement {
 public:
  // Of this machine; nothing on one memory node: there is nothing to choose, and no time is lost.
  static std::optional<Placement> of_machine();
  // As hwloc sees it. Throws base::Error.
  Placement();

  // The memory node of these processors (bit n % 64 of word n / 64); -1: they have no common one,
  // and the first touch decides.
  int node_of(std::span<const uint64_t> processors) const;
  // The same for those on which the calling thread has just run; it stays there from now on.
  int settle_thread() const;
  // Pages of it that nobody has touched yet will come from that node, as long as it has any; -1:
  // nothing happens.
  void put(const void* memory, size_t bytes, int node) const;

 private:
  struct Destroyer {
    void operator()(hwloc_topology_t topology) const { ::hwloc_topology_destroy(topology); }
  };

  int node_of(hwloc_const_cpuset_t processors) const;

  std::unique_ptr<hwloc_topology, Destroyer> topology_;
};

}  // namespace nagaya::delegatee
