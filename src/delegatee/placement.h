// SPDX-License-Identifier: BSD-3-Clause
// placement.h - how many delegatees a node has, and where; places each shared structure on the
// memory node of its reader: a task's mailbox on that of the task's processors, lanes on that of
// the delegatee's thread. Uses hwloc, and only on machines with several memory nodes or many
// processors.
//
//   domains    | memory node, processors | memory node, processors | ...   those near to a network
//   delegatees      0, 2, ...                 1, 3, ...                    device come first
#pragma once

#include <hwloc.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nagaya::delegatee {

// The number of a node's delegatees, and the figures from which it follows.
struct Delegation {
  uint32_t delegatees = 1;  // a power of two
  uint32_t domains = 1;     // memory nodes with processors of their own
  uint32_t cores = 1;
};

class Placement {
 public:
  // A delegatee for each domain, or for so many cores of a large domain: but only one for each so
  // many tasks, because a delegatee that polls takes a processor from them. (A delegatee answers
  // about 5 million requests a second: docs/scale.md.)
  static constexpr uint32_t kCoresEach = 64, kTasksEach = 32;

  // The placement for this machine. Nothing if it has one memory node and too few processors for
  // two delegatees: there is nothing to choose, and no time is lost on hwloc.
  static std::optional<Placement> of_machine();
  // Loads the machine's topology by hwloc. Throws base::Error.
  Placement();

  // For a job that has so many tasks on this node; 0: their number is not known.
  Delegation delegation(uint32_t tasks) const;
  // Returns the memory node of the domain of delegatee n of several: the one near to its network
  // device, if that has a name and is near to one.
  int node_of_delegatee(uint32_t n, const std::string& device = "") const;
  // Returns the memory node of these processors (bit n % 64 of word n / 64); -1: they have no
  // common one, and the first touch decides.
  int node_of(std::span<const uint64_t> processors) const;
  // Binds the calling thread, that of delegatee n of `count`, to a memory node: a lone delegatee to
  // that of the processor on which it has just run. Returns that node; -1: none, and the thread is
  // not bound.
  int settle_thread(uint32_t n, uint32_t count, const std::string& device) const;
  // Lets pages of `memory` that nobody has touched yet come from that node, as long as it has any;
  // node -1: does nothing.
  void put(const void* memory, size_t bytes, int node) const;

 private:
  struct Destroyer {
    void operator()(hwloc_topology_t topology) const { ::hwloc_topology_destroy(topology); }
  };

  int node_of(hwloc_const_cpuset_t processors) const;
  void find_domains();
  // Any network device, or the one of that name.
  bool has_device(hwloc_obj_t domain, const std::string& name = "") const;

  std::unique_ptr<hwloc_topology, Destroyer> topology_;
  std::vector<hwloc_obj_t> domains_;  // memory nodes; those near to a network device come first
};

}  // namespace nagaya::delegatee
