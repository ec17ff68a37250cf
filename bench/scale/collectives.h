// SPDX-License-Identifier: BSD-3-Clause
// collectives.h - Nagaya's collectives on a modelled node: the code of src/coll, compiled with
// access_hooks.cc, for all members of one team.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scale/simulation.h"

namespace nagaya::bench::scale {

enum class Kind { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kAlltoall };

class Collectives {
 public:
  Collectives(Simulation& simulation, uint32_t members);
  ~Collectives();

  // Names of the algorithms that can carry out the kind; the first is Nagaya's own choice, "".
  static std::vector<std::string> algorithms_of(Kind kind, size_t bytes);

  // All members begin at once. Returns the time until the last one has its result [ns].
  double latency_ns(Kind kind, size_t bytes, const std::string& algorithm);
  // As bench/path/collectives.cc measures: short ones in a loop, long ones singly after a barrier;
  // the slowest member's time of one [ns].
  double measured_ns(Kind kind, size_t bytes);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace nagaya::bench::scale
