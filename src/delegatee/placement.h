// SPDX-License-Identifier: BSD-3-Clause
// placement.h - places each shared structure on the memory node of its reader: a task's mailbox on
// that of the task's processors, lanes on that of the delegatee's thread. Uses hwloc, and only on
// machines with several memory nodes.
#pragma once

#include <hwloc.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace nagaya::delegatee {

class Placement {
 public:
  // The placement for this machine. Nothing if it has one memory node: there is nothing to choose,
  // and no time is lost on hwloc.
  static std::optional<Placement> of_machine();
  // Loads the machine's topology by hwloc. Throws base::Error.
  Placement();

  // Returns the memory node of these processors (bit n % 64 of word n / 64); -1: they have no
  // common one, and the first touch decides.
  int node_of(std::span<const uint64_t> processors) const;
  // Binds the calling thread to the memory node of the processor on which it has just run. Returns
  // that node; -1: none, and the thread is not bound.
  int settle_thread() const;
  // Lets pages of `memory` that nobody has touched yet come from that node, as long as it has any;
  // node -1: does nothing.
  void put(const void* memory, size_t bytes, int node) const;

 private:
  struct Destroyer {
    void operator()(hwloc_topology_t topology) const { ::hwloc_topology_destroy(topology); }
  };

  int node_of(hwloc_const_cpuset_t processors) const;

  std::unique_ptr<hwloc_topology, Destroyer> topology_;
};

}  // namespace nagaya::delegatee
