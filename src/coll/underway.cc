// SPDX-License-Identifier: BSD-3-Clause
#include "coll/underway.h"

#include <mutex>

namespace nagaya::coll {

void complete(nagaya_collective& what) {
  const auto function = what.complete;
  // Release: a thread that loads 1 sees the data, too. From here on the caller may reuse `what`.
  std::atomic_ref(what.is_complete).store(1, std::memory_order_release);
  if (function != nullptr) function(&what);
}

PendingCollectives& PendingCollectives::own(llcl::Wait& waits) {
  // Never deleted: other threads may use it while we exit.
  static PendingCollectives* const own = new PendingCollectives(waits);
  return *own;
}

// Registers advance() with the task's waits. Done at the first start, so that polls of tasks
// without non-blocking collectives cost nothing for them.
int PendingCollectives::register_with_waits() {
  const std::lock_guard lock(lock_);
  if (is_registered_) return 0;
  const int error =
      waits_.add({[](void* self) { return static_cast<PendingCollectives*>(self)->advance(); }, 1,
                  [](void* self) {
                    return llcl::sleep_beside_looks(static_cast<PendingCollectives*>(self)->lock_);
                  },
                  nullptr, this});
  is_registered_ = error == 0;
  return error;
}

int PendingCollectives::start(Team& team, nagaya_collective& what, const Algorithm& algorithm,
                              std::optional<uint64_t> number) {
  if (const int error = register_with_waits(); error != 0) return error;
  what.is_complete = 0;
  what.error = 0;
  std::list<Operation> started;
  bool is_complete = false;
  {
    const auto lock = team.locked();
    started.emplace_back(team, what, algorithm, number);
    is_complete = started.front().advance();
  }
  if (is_complete) {
    complete(what);
    return 0;
  }
  const std::lock_guard lock(lock_);
  operations_.splice(operations_.end(), started);
  count_.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

// Calls `complete` functions without the lock, because they may start other collectives. Returns
// how many collectives are complete now.
int PendingCollectives::advance() {
  if (count_.load(std::memory_order_relaxed) == 0 || !lock_.try_lock()) return 0;
  std::list<Operation> finished;
  for (auto one = operations_.begin(); one != operations_.end();) {
    const auto next = std::next(one);
    const auto lock = one->team().locked();
    if (one->advance()) finished.splice(finished.end(), operations_, one);
    one = next;
  }
  count_.fetch_sub(static_cast<uint32_t>(finished.size()), std::memory_order_relaxed);
  lock_.unlock();
  for (Operation& operation : finished) complete(operation.what());
  return static_cast<int>(finished.size());
}

}  // namespace nagaya::coll
