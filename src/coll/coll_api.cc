// SPDX-License-Identifier: BSD-3-Clause
// coll_api.cc - the C functions of nagaya/coll.h.
#include <errno.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/guarded.h"
#include "coll/algorithms.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/underway.h"
#include "llcl/elsewhere_by_lane.h"
#include "llcl/tuning.h"
#include "task/api_error.h"

using nagaya::base::guarded;
using nagaya::coll::algorithm_of;
using nagaya::coll::Operation;
using nagaya::coll::Team;
using nagaya::coll::Underway;
using nagaya::coll::hierarchy::Schedule;
using nagaya::coll::hierarchy::WideTeam;
using nagaya::llcl::Endpoint;
using nagaya::llcl::Tuning;

// Of one node, or over several.
struct nagaya_team {
  std::optional<Team> here;
  std::optional<WideTeam> wide;

  uint32_t size() const { return here ? here->size() : wide->size(); }
  bool is_idle() {
    if (wide) return wide->is_idle();
    const Team::Turn turn(*here);  // another thread has just moved it, and has left it now
    return here->is_idle();
  }
};

namespace {

bool is_valid(const nagaya_team* team, const nagaya_collective* what) {
  return team != nullptr && what != nullptr && what->root < team->size() &&
         algorithm_of(*what) != nullptr;
}

int open(nagaya_team& team, Endpoint& endpoint, uint64_t context,
         std::span<const nagaya_process> processes, uint32_t rank, bool has_threads) {
  const uint32_t node = processes[rank].node;
  const auto is_here = [&](const nagaya_process& process) { return process.node == node; };
  if (!std::all_of(processes.begin(), processes.end(), is_here)) {
    if (context >= WideTeam::kContexts || processes.size() > WideTeam::kSizeMax) return -EINVAL;
    team.wide.emplace(processes, rank, context, has_threads, endpoint.waits());
    return team.wide->open(endpoint.board(), endpoint.record());
  }
  std::vector<uint32_t> tasks;
  for (const nagaya_process& process : processes) tasks.push_back(process.task);
  team.here.emplace(rank, has_threads);
  return team.here->open(endpoint.board(), endpoint.record(), context, tasks);
}

int start_wide(WideTeam& team, nagaya_collective& collective) {
  Schedule::start(team, collective,
                  *nagaya::coll::hierarchy::algorithm_of(collective, team.nodes()));
  return 0;
}

// Another's message that waits for memory ends no wait of ours.
template <class IsOver>
void wait(IsOver is_over) {
  while (Endpoint::own()->wait(is_over, -1) != 0) continue;
}

int run_wide(WideTeam& team, nagaya_collective& collective) {
  collective.complete = nullptr;
  if (const int error = start_wide(team, collective); error != 0) return error;
  // Acquire: pairs with complete().
  const std::atomic_ref is_complete(collective.is_complete);
  wait([&] { return is_complete.load(std::memory_order_acquire) != 0; });
  return collective.error;
}

}  // namespace

int nagaya_coll_open(uint64_t context, const nagaya_process* processes, uint32_t size,
                     uint32_t rank, int threads, nagaya_team** out) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (processes == nullptr || out == nullptr || rank >= size || context >> 62 != 0 ||
      processes[rank].task != endpoint->owner().number())
    return -EINVAL;
  for (uint32_t n = 0; n < size; ++n)
    if (processes[n].node == processes[rank].node &&
        processes[n].task >= endpoint->board().capacity)
      return -EINVAL;
  return nagaya::task::guarded([&] {
    Tuning::own().agreed(endpoint->board().tuning);
    auto team = std::make_unique<nagaya_team>();
    const int error = open(*team, *endpoint, context, {processes, size}, rank, threads != 0);
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
  if (!is_valid(team, collective)) return -EINVAL;
  return guarded([&] {
    if (team->wide) return start_wide(*team->wide, *collective);
    Underway& underway = Underway::own(Endpoint::own()->waits());
    return underway.start(*team->here, *collective, *algorithm_of(*collective),
                          team->here->new_number());
  });
}

int nagaya_coll_run(nagaya_team* team, nagaya_collective* collective) {
  if (!is_valid(team, collective)) return -EINVAL;
  if (team->wide) return guarded([&] { return run_wide(*team->wide, *collective); });
  collective->error = 0;
  Team& here = *team->here;
  Operation operation(here, *collective, *algorithm_of(*collective), here.new_number());
  wait([&] {
    const Team::Turn turn(here);
    return operation.advance();
  });
  return collective->error;
}

const char* nagaya_coll_algorithm(const nagaya_team* team, const nagaya_collective* collective) {
  if (team != nullptr && team->wide) {
    const auto* const wide =
        nagaya::coll::hierarchy::algorithm_of(*collective, team->wide->nodes());
    return wide == nullptr ? nullptr : wide->name;
  }
  const auto* const algorithm = algorithm_of(*collective);
  return algorithm == nullptr ? nullptr : algorithm->name;
}
