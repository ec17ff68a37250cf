// SPDX-License-Identifier: BSD-3-Clause
#include "coll/pending_collectives.h"

#include <mutex>

namespace nagaya::coll {

void complete(nagaya_collective& what) {
  const auto function = what.complete;
  // Release: a thread that loads 1 sees the data, too. From here on the caller may reuse `what`.
  std::atomic_ref(what.is_complete).store(1, std::memory_order_release);
  if (function != nullptr) function(&what);
}

int PendingCollectives::start(Team& team, nagaya_collective& what, const Algorithm& algorithm,
                              std::optional<uint64_t> number) {
  {
    const std::lock_guard guard(lock);
    if (const int error = register_with_waits(); error != 0) return error;
  }
  what.is_complete = 0;
  what.error = 0;
  std::list<Operation> started;
  bool is_complete = false;
  {
    const auto guard = team.locked();
    started.emplace_back(team, what, algorithm, number);
    is_complete = started.front().advance();
  }
  if (is_complete) {
    complete(what);
    return 0;
  }
  const std::lock_guard guard(lock);
  operations_.splice(operations_.end(), started);
  count_added();
  return 0;
}

// Calls `complete` functions without the lock, because they may start other collectives. Returns
// how many collectives are complete now.
int PendingCollectives::advance() {
  auto guard = lock_if_pending();
  if (!guard) return 0;
  std::list<Operation> finished;
  for (auto one = operations_.begin(); one != operations_.end();) {
    const auto next = std::next(one);
    const auto team_guard = one->team().locked();
    if (one->is_for_this_thread() && one->advance(waits().recorder()))
      finished.splice(finished.end(), operations_, one);
    one = next;
  }
  count_removed(finished.size());
  guard.unlock();
  for (Operation& operation : finished) complete(operation.what());
  return static_cast<int>(finished.size());
}

}  // namespace nagaya::coll
