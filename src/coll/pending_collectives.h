// SPDX-License-Identifier: BSD-3-Clause
// pending_collectives.h - a task's pending non-blocking collectives. Every wait of the task
// advances them.
#pragma once

#include <list>

#include "coll/operation.h"
#include "llcl/requests/pending_work.h"

namespace nagaya::coll {

// Marks the collective complete and calls its `complete` function: its caller may reuse it.
void complete(nagaya_collective& what);

class PendingCollectives : public llcl::PendingWork<PendingCollectives> {
 public:
  // Starts a collective for nagaya_coll_start(); `number`: as in Operation's constructor. Returns
  // 0, or an error: then nothing has happened. May throw std::bad_alloc.
  int start(Team& team, nagaya_collective& what, const Algorithm& algorithm,
            std::optional<uint64_t> number = std::nullopt);
  int advance();

 private:
  friend PendingWork;
  using PendingWork::PendingWork;

  std::list<Operation> operations_;  // those of one team in the order of their starts
};

}  // namespace nagaya::coll
