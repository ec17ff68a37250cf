// SPDX-License-Identifier: BSD-3-Clause
// coll_api.cc - the C functions of nagaya/coll.h.
#include <errno.h>

#include <memory>
#include <new>

#include "coll/algorithms.h"
#include "coll/underway.h"
#include "llcl/elsewhere_by_lane.h"

using nagaya::coll::algorithm_of;
using nagaya::coll::Operation;
using nagaya::coll::Team;
using nagaya::coll::Underway;
using nagaya::llcl::Endpoint;

struct nagaya_team : Team {
  using Team::Team;
};

namespace {

bool is_valid(const Team& team, const nagaya_collective& what) {
  return what.root < team.size() && algorithm_of(what) != nullptr;
}

// Calls `function`; no exception leaves.
template <class Function>
int guarded(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace

int nagaya_coll_open(uint64_t context, const uint32_t* tasks, uint32_t size, uint32_t rank,
                     int threads, nagaya_team** out) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (tasks == nullptr || out == nullptr || rank >= size || context >> 63 != 0 ||
      tasks[rank] != endpoint->owner().number())
    return -EINVAL;
  for (uint32_t n = 0; n < size; ++n)
    if (tasks[n] >= endpoint->board().capacity) return -EINVAL;
  return guarded([&] {
    auto team = std::make_unique<nagaya_team>(rank, threads != 0);
    const int error = team->open(endpoint->board(), endpoint->record(), context, {tasks, size});
    if (error == 0) *out = team.release();
    return error;
  });
}

int nagaya_coll_close(nagaya_team* team) {
  if (team == nullptr) return -EINVAL;
  if (!team->is_idle()) return -EBUSY;
  delete team;
  return 0;
}

int nagaya_coll_start(nagaya_team* team, nagaya_collective* collective) {
  if (team == nullptr || collective == nullptr || !is_valid(*team, *collective)) return -EINVAL;
  return guarded([&] {
    Underway& underway = Underway::own(Endpoint::own()->waits());
    return underway.start(*team, *collective, *algorithm_of(*collective));
  });
}

int nagaya_coll_run(nagaya_team* team, nagaya_collective* collective) {
  if (team == nullptr || collective == nullptr || !is_valid(*team, *collective)) return -EINVAL;
  collective->error = 0;
  Operation operation(*team, *collective, *algorithm_of(*collective));
  const auto is_over = [&] {
    const Team::Turn turn(*team);
    return operation.advance();
  };
  // Another's message that waits for memory ends no wait of ours.
  while (Endpoint::own()->wait(is_over, -1) != 0) continue;
  return collective->error;
}

const char* nagaya_coll_algorithm(const nagaya_collective* collective) {
  const auto* const algorithm = algorithm_of(*collective);
  return algorithm == nullptr ? nullptr : algorithm->name;
}
