// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/broadcast.h"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "faces/blacs/point_to_point.h"
#include "faces/blacs/waiting.h"

namespace nagaya::blacs {
namespace {

// A broadcast that its root has started. The root and the completion function, which may run in
// another thread, each exchange its state; the second of them deletes the object or keeps it for
// reuse.
struct RootBroadcast {
  enum class State { kAwaited, kComplete, kAbandoned };

  nagaya_collective what = {};
  std::atomic<State> state = State::kAwaited;

  bool is_complete() const { return state.load(std::memory_order_acquire) == State::kComplete; }
};

// A complete object for reuse: most broadcasts are complete when their start returns.
RootBroadcast* spare_broadcast = nullptr;

RootBroadcast* new_root_broadcast() {
  RootBroadcast* const object =
      spare_broadcast != nullptr ? std::exchange(spare_broadcast, nullptr) : new RootBroadcast;
  object->what = {};
  object->state.store(RootBroadcast::State::kAwaited, std::memory_order_relaxed);
  return object;
}

void check(int error, const Grid& grid) {
  if (error != 0)
    grid.refuse_call(error == -EMSGSIZE ? "what was sent is longer than the matrix"
                                        : strerrorname_np(-error));
}

// Teams of ended grids that have pending broadcasts.
std::vector<nagaya_team*> teams_to_close;

void close_idle_teams() {
  std::erase_if(teams_to_close,
                [](nagaya_team* team) { return nagaya_coll_close(team) != -EBUSY; });
}

void on_complete(nagaya_collective* what) {
  if (what->error != 0)
    System::own().abort(1, "a broadcast is lost: " + std::string(strerrorname_np(-what->error)));
  auto* const object = reinterpret_cast<RootBroadcast*>(what);
  if (object->state.exchange(RootBroadcast::State::kComplete, std::memory_order_acq_rel) ==
      RootBroadcast::State::kAbandoned)
    delete object;
}

// Ends the root's use of the object: keeps it for reuse if the broadcast is complete, else leaves
// it to on_complete(), which deletes it.
void abandon(RootBroadcast* object) {
  if (object->state.exchange(RootBroadcast::State::kAbandoned, std::memory_order_acq_rel) !=
      RootBroadcast::State::kComplete)
    return;
  delete std::exchange(spare_broadcast, object);
}

// Waits for the others to read the matrix, then makes a copy for those that have not begun. Returns
// whether all have read the matrix itself.
bool await_readers(const Grid& grid, nagaya_team& team, RootBroadcast& object) {
  if (wait_for(time_before_copy(object.what.send.bytes), [&] { return object.is_complete(); }))
    return true;
  const int copies = nagaya_coll_detach(&team, &object.what);
  check(std::min(copies, 0), grid);
  return copies == 0;
}

}  // namespace

void broadcast(Grid& grid, Scope scope, const Layout& layout) {
  if (grid.size_of(scope) == 1) return;
  RootBroadcast* const object = new_root_broadcast();
  nagaya_collective& what = object->what;
  what.kind = NAGAYA_BCAST;
  what.root = static_cast<uint32_t>(grid.rank_in(scope, grid.row(), grid.column()));
  what.send.base = layout.data();
  what.send.bytes = layout.bytes();
  what.send.runs = layout.runs_or_null();
  what.may_detach = 1;
  what.complete = on_complete;
  nagaya_team& team = grid.team(scope);
  check(nagaya_coll_start(&team, &what), grid);
  if (!object->is_complete()) {
    const bool was_direct = await_readers(grid, team, *object);
    ++(was_direct ? send_counters().broadcasts_direct : send_counters().broadcasts_copied);
  }
  abandon(object);
}

void receive_broadcast(Grid& grid, Scope scope, Int root, const Layout& layout) {
  if (root == grid.rank_in(scope, grid.row(), grid.column())) return broadcast(grid, scope, layout);
  nagaya_collective what = {};
  what.kind = NAGAYA_BCAST;
  what.root = static_cast<uint32_t>(root);
  what.receive.base = layout.data();
  what.receive.bytes = layout.bytes();
  what.receive.runs = layout.runs_or_null();
  what.may_detach = 1;
  check(run(grid.team(scope), what), grid);
}

void barrier(Grid& grid, Scope scope) {
  nagaya_collective what = {};
  what.kind = NAGAYA_BARRIER;
  check(run(grid.team(scope), what), grid);
}

void allgather(Grid& grid, Scope scope, const void* own, size_t bytes, void* all) {
  nagaya_collective what = {};
  what.kind = NAGAYA_ALLGATHER;
  what.send.base = const_cast<void*>(own);
  what.send.bytes = what.receive.bytes = bytes;
  what.receive.base = all;
  what.receive.stride = static_cast<ptrdiff_t>(bytes);
  check(run(grid.team(scope), what), grid);
}

void close_team(nagaya_team* team) {
  teams_to_close.push_back(team);
  close_idle_teams();
}

void await_closes() {
  wait([] {
    close_idle_teams();
    return teams_to_close.empty();
  });
}

}  // namespace nagaya::blacs
