// SPDX-License-Identifier: BSD-3-Clause
// coll_api.cc - the C functions of nagaya/coll.h.
#include <errno.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/or_enomem.h"
#include "coll/algorithms.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/underway.h"
#include "layout/blocks.h"
#include "llcl/endpoint.h"
#include "llcl/tuning.h"
#include "task/api_error.h"

using nagaya::base::or_enomem;
using nagaya::coll::algorithm_of;
using nagaya::coll::Operation;
using nagaya::coll::Team;
using nagaya::coll::Underway;
using nagaya::coll::hierarchy::Schedule;
using nagaya::coll::hierarchy::WideTeam;
using nagaya::layout::has_runs;
using nagaya::llcl::Endpoint;
using nagaya::llcl::NodeSets;
using nagaya::llcl::ProcessSet;
using nagaya::llcl::Tuning;

// A team of one node (`here`) or over several (`wide`).
struct nagaya_team {
  std::optional<Team> here;
  std::optional<WideTeam> wide;

  uint32_t size() const { return here ? here->size() : wide->size(); }
  bool is_idle() {
    if (wide) return wide->is_idle();
    const auto lock = here->locked();  // waits for a thread that still advances the last one
    return here->is_idle();
  }
};

namespace {

bool may_have_runs(const nagaya_team& team, const nagaya_collective& what) {
  if (what.kind == NAGAYA_REDUCE || what.kind == NAGAYA_ALLREDUCE)
    return team.here && what.send.runs == what.receive.runs && what.send.runs_of == nullptr &&
           what.receive.runs_of == nullptr;
  return what.kind < NAGAYA_REDUCE;
}

bool is_valid(const nagaya_team* team, const nagaya_collective* what) {
  return team != nullptr && what != nullptr && what->root < team->size() &&
         nagaya::coll::is_known(what->kind) &&
         ((!has_runs(what->send) && !has_runs(what->receive)) || may_have_runs(*team, *what)) &&
         (what->may_detach == 0 || what->kind == NAGAYA_BCAST);
}

int detach_wide(WideTeam& team, nagaya_collective& collective) {
  const Schedule::Held schedule = Schedule::hold(team, collective);
  if (schedule == nullptr) return 0;
  const bool has_copy = schedule->detach();
  Endpoint::own()->wait([&] { return schedule->is_unread(); });
  return has_copy ? 1 : 0;
}

// The caller's arguments of nagaya_coll_open() or nagaya_coll_open_by_messages().
struct Membership {
  uint64_t context;
  std::span<const nagaya_process> processes;
  uint32_t rank;
  bool has_threads;
};

int open_wide(nagaya_team& team, Endpoint& endpoint, const Membership& own, ProcessSet set) {
  if (set.size() > WideTeam::kSizeMax) return -EINVAL;
  team.wide.emplace(std::move(set), own.context, own.has_threads, endpoint.waits());
  return team.wide->open(endpoint.board(), endpoint.record());
}

int open(nagaya_team& team, Endpoint& endpoint, const Membership& own) {
  ProcessSet set(own.processes, own.rank);
  if (set.nodes().nodes() > 1) return open_wide(team, endpoint, own, std::move(set));
  team.here.emplace(own.rank, own.has_threads);
  return team.here->open(endpoint.board(), endpoint.record(), own.context, 0, set.tasks_here());
}

int start_wide(WideTeam& team, nagaya_collective& collective) {
  Schedule::start(team, collective,
                  *nagaya::coll::hierarchy::algorithm_of(collective, team.nodes()));
  return 0;
}

int run_wide(WideTeam& team, nagaya_collective& collective) {
  if (const int error = start_wide(team, collective); error != 0) return error;
  // Acquire: pairs with complete().
  const std::atomic_ref is_complete(collective.is_complete);
  Endpoint::own()->wait([&] { return is_complete.load(std::memory_order_acquire) != 0; });
  return collective.error;
}

// Checks the arguments and makes a team, which `open` fills in. Returns 0 or an error.
template <class Open>
int make(const Membership& own, nagaya_team** out, Open open) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  const auto& [context, processes, rank, has_threads] = own;
  if (processes.data() == nullptr || out == nullptr || rank >= processes.size() ||
      context >= WideTeam::kContexts || !endpoint->is_member(processes, rank))
    return -EINVAL;
  if (has_threads) endpoint->waits().expect_threads();
  return nagaya::task::guarded([&] {
    Tuning::own().agreed(endpoint->board().tuning);
    auto team = std::make_unique<nagaya_team>();
    const int error = open(*team, *endpoint, own);
    if (error == 0) *out = team.release();
    return error;
  });
}

}  // namespace

int nagaya_coll_open(uint64_t context, const nagaya_process* processes, uint32_t size,
                     uint32_t rank, int threads, nagaya_team** out) {
  return make({context, {processes, size}, rank, threads != 0}, out, open);
}

int nagaya_coll_open_by_messages(uint64_t context, const nagaya_process* processes, uint32_t size,
                                 uint32_t rank, int threads, nagaya_team** out) {
  return make({context, {processes, size}, rank, threads != 0}, out,
              [](nagaya_team& team, Endpoint& endpoint, const Membership& own) {
                const auto count = static_cast<uint32_t>(own.processes.size());
                return open_wide(team, endpoint, own,
                                 ProcessSet(own.processes, NodeSets::apart(count), own.rank));
              });
}

int nagaya_coll_close(nagaya_team* team) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (team == nullptr) return -EINVAL;
  if (!team->is_idle()) return -EBUSY;
  delete team;
  return 0;
}

int nagaya_coll_wait_close(nagaya_team* team) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (team == nullptr) return -EINVAL;
  endpoint->wait([&] { return team->is_idle(); });
  delete team;
  return 0;
}

int nagaya_coll_start(nagaya_team* team, nagaya_collective* collective) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (!is_valid(team, collective)) return -EINVAL;
  return or_enomem([&] {
    if (team->wide) return start_wide(*team->wide, *collective);
    endpoint->waits().expect(team->here->partner());
    Underway& underway = Underway::own(endpoint->waits());
    return underway.start(*team->here, *collective, algorithm_of(*collective, *team->here));
  });
}

int nagaya_coll_detach(nagaya_team* team, nagaya_collective* collective) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (team == nullptr || collective->kind != NAGAYA_BCAST || collective->may_detach == 0)
    return -EINVAL;
  if (team->wide) return or_enomem([&] { return detach_wide(*team->wide, *collective); });
  // Called with the lock. Returns nullptr when the collective is complete.
  const auto operation = [&] { return static_cast<Operation*>(collective->operation); };
  const int copies = or_enomem([&] {
    const auto lock = team->here->locked();
    return operation() != nullptr && operation()->detach() ? 1 : 0;
  });
  if (copies < 0) return copies;
  endpoint->wait([&] {
    const auto lock = team->here->locked();
    return operation() == nullptr || operation()->is_unread();
  });
  return copies;
}

int nagaya_coll_run(nagaya_team* team, nagaya_collective* collective) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (!is_valid(team, collective)) return -EINVAL;
  if (team->wide) {
    // A blocking run does not call `complete`. The caller's value is put back afterwards: the
    // caller may start the same collective later.
    auto* const complete = std::exchange(collective->complete, nullptr);
    const int error = or_enomem([&] { return run_wide(*team->wide, *collective); });
    collective->complete = complete;
    return error;
  }
  collective->error = 0;
  Team& here = *team->here;
  Operation operation(here, *collective, algorithm_of(*collective, here));
  endpoint->waits().expect(here.partner());
  endpoint->wait([&] {
    const auto lock = here.locked();
    return operation.advance();
  });
  return collective->error;
}

const char* nagaya_coll_algorithm(const nagaya_team* team, const nagaya_collective* collective) {
  if (team == nullptr || !nagaya::coll::is_known(collective->kind)) return nullptr;
  if (!team->wide) return algorithm_of(*collective, *team->here).name;
  return nagaya::coll::hierarchy::algorithm_of(*collective, team->wide->nodes())->name;
}
