// SPDX-License-Identifier: BSD-3-Clause
// shapes.h - collectives of others on a modelled node, as data: a tree of members, and which lines
// a member loads and stores along it.
//
//   tree        from                                                       published
//   flat        every member below rank 0
//   fours       member n below (n - 1) / 4                                 MPICH, release_gather:
//   wide        the same with 64                                           reductions, bcast
//   domains     below the first member of the cluster; these below the     Open MPI's XHC
//               first of the socket; these below rank 0
//
//   up          a member awaits the line of each child, adds its elements, then stores its own line
//   down        a member awaits its parent's line, copies the parent's data, then stores its own
//
//   barrier: up, down · bcast: down · reduce: up · allreduce: up, down
//
// Data of up to 40 bytes lie in the line itself (XHC's payload in the flag's line), longer ones in
// a buffer of the member, in pieces of 16 KiB with a line's number each (XHC's chunks).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "scale/collectives.h"
#include "scale/numbers.h"
#include "scale/simulation.h"

namespace nagaya::bench::scale {

// Each member's parent; rank 0 is the root, whose parent is itself.
using Tree = std::vector<uint32_t>;
Tree flat_tree(uint32_t members);
Tree even_tree(uint32_t members, uint32_t children);
// By the domains of the cores on which the members run.
Tree domain_tree(const Description& machine, uint32_t members);

class Shapes {
 public:
  Shapes(Simulation& simulation, uint32_t members);
  ~Shapes();

  // Names of the trees that can carry out the kind.
  static std::vector<std::string> trees_of(Kind kind);
  // As Collectives::latency_ns().
  double latency_ns(Kind kind, size_t bytes, const std::string& tree);

 private:
  struct Member;
  struct Run;
  struct Exchange;

  Tree tree(const std::string& name) const;
  void up(Run& run, uint32_t rank, uint64_t turn);
  void down(Run& run, uint32_t rank, uint64_t turn);
  void exchange(Exchange& run, uint32_t rank, uint64_t turn);
  double exchange_ns(Kind kind, size_t bytes);
  void await(const std::atomic<uint64_t>& word, uint64_t value);
  void post(std::atomic<uint64_t>& word, uint64_t value);

  Simulation& simulation_;
  const uint32_t size_;
};

}  // namespace nagaya::bench::scale
