// SPDX-License-Identifier: BSD-3-Clause
// underway.h - a task's non-blocking collectives, which every wait of the task moves.
#pragma once

#include <list>

#include "coll/operation.h"
#include "llcl/wait.h"

namespace nagaya::coll {

// Gives the collective back to its caller.
void complete(nagaya_collective& what);

class Underway {
 public:
  // Of the calling task; made at its first non-blocking collective. May throw std::bad_alloc.
  static Underway& own(llcl::Wait& waits);

  // As nagaya_coll_start(); `number`: as Operation's. May throw std::bad_alloc. Unless it returns
  // 0, nothing has happened.
  int start(Team& team, nagaya_collective& what, const Algorithm& algorithm,
            std::optional<uint64_t> number = std::nullopt);

 private:
  explicit Underway(llcl::Wait& waits) : waits_(waits) {}

  int be_in_waits();
  int advance();

  llcl::Wait& waits_;
  task::SpinLock lock_;
  bool is_in_waits_ = false;
  std::list<Operation> operations_;  // of each team in their order
  std::atomic<uint32_t> count_ = 0;  // of them
};

}  // namespace nagaya::coll
