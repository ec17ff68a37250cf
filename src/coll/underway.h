// SPDX-License-Identifier: BSD-3-Clause
// underway.h - a task's pending non-blocking collectives. Every wait of the task advances them.
#pragma once

#include <list>

#include "coll/operation.h"
#include "llcl/wait.h"

namespace nagaya::coll {

// Marks the collective complete and calls its `complete` function: its caller may reuse it.
void complete(nagaya_collective& what);

class PendingCollectives {
 public:
  // Returns the calling task's instance; the first call makes it. May throw std::bad_alloc.
  static PendingCollectives& own(llcl::Wait& waits);

  // Starts a collective for nagaya_coll_start(); `number`: as in Operation's constructor. Returns
  // 0, or an error: then nothing has happened. May throw std::bad_alloc.
  int start(Team& team, nagaya_collective& what, const Algorithm& algorithm,
            std::optional<uint64_t> number = std::nullopt);

 private:
  explicit PendingCollectives(llcl::Wait& waits) : waits_(waits) {}

  int register_with_waits();
  int advance();

  llcl::Wait& waits_;
  task::SpinLock lock_;
  bool is_registered_ = false;
  std::list<Operation> operations_;  // those of one team in the order of their starts
  std::atomic<uint32_t> count_ = 0;  // of operations_; read without the lock
};

}  // namespace nagaya::coll
