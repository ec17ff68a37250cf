// SPDX-License-Identifier: BSD-3-Clause
// coll_api.cc - the C functions of nagaya/coll.h.
#include <errno.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/catch_errors.h"
#include "coll/algorithms.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/pending_collectives.h"
#include "layout/blocks.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/processes.h"
#include "llcl/requests/tuning.h"
#include "task/api_error.h"

using nagaya::base::catch_errors;
using nagaya::coll::algorithm_of;
using nagaya::coll::Operation;
using nagaya::coll::PendingCollectives;
using nagaya::coll::purpose_of;
using nagaya::coll::Team;
using nagaya::coll::hierarchy::MultiNodeTeam;
using nagaya::coll::hierarchy::Schedule;
using nagaya::layout::has_runs;
using nagaya::llcl::Endpoint;
using nagaya::llcl::Purpose;
using nagaya::llcl::Tuning;
using nagaya::processes::ProcessSet;

// A team of one node (`one_node`) or over several (`multi_node`).
struct nagaya_team {
  std::optional<Team> one_node;
  std::optional<MultiNodeTeam> multi_node;

  uint32_t size() const { return one_node ? one_node->size() : multi_node->size(); }
  bool is_idle() {
    if (multi_node) return multi_node->is_idle();
    const auto lock = one_node->locked();  // waits for a thread that still advances the last one
    return one_node->is_idle();
  }
};

namespace {

bool may_have_runs(const nagaya_team& team, const nagaya_collective& what) {
  if (what.kind == NAGAYA_REDUCE || what.kind == NAGAYA_ALLREDUCE)
    return team.one_node && what.send.runs == what.receive.runs && what.send.runs_of == nullptr &&
           what.receive.runs_of == nullptr;
  return what.kind < NAGAYA_REDUCE;
}

void count_collective(const Endpoint& endpoint) {
  count(endpoint.board(), endpoint.owner(), &nagaya::llcl::TaskActivity::collectives, 1);
}

bool is_valid(const nagaya_team* team, const nagaya_collective* what) {
  return team != nullptr && what != nullptr && what->root < team->size() &&
         nagaya::coll::is_valid_kind(what->kind) &&
         ((!has_runs(what->send) && !has_runs(what->receive)) || may_have_runs(*team, *what)) &&
         (what->may_detach == 0 || what->kind == NAGAYA_BCAST);
}

int detach_multi_node(MultiNodeTeam& team, nagaya_collective& collective) {
  const Schedule::StepGuard schedule = Schedule::hold(team, collective);
  if (schedule == nullptr) return 0;
  const bool has_copy = schedule->detach();
  Endpoint::own()->wait(Purpose::kBcast, [&] { return schedule->has_no_readers(); });
  return has_copy ? 1 : 0;
}

// The caller's arguments of nagaya_coll_open() or nagaya_coll_open_by_messages().
struct Membership {
  uint64_t context;
  const nagaya_processes* members;
  bool has_threads;
};

int open_multi_node(nagaya_team& team, Endpoint& endpoint, const Membership& own, bool are_apart) {
  if (own.members->set->size() > MultiNodeTeam::kSizeMax) return -EINVAL;
  team.multi_node.emplace(own.members->set, are_apart, own.context, own.has_threads,
                          endpoint.waits());
  return team.multi_node->open(endpoint.board(), endpoint.record());
}

int open(nagaya_team& team, Endpoint& endpoint, const Membership& own) {
  const ProcessSet& set = *own.members->set;
  if (set.by_node().nodes() > 1) return open_multi_node(team, endpoint, own, false);
  team.one_node.emplace(set.rank(), own.has_threads);
  return team.one_node->open(endpoint.board(), endpoint.record(), own.context, 0, set.tasks_here());
}

int start_multi_node(MultiNodeTeam& team, nagaya_collective& collective) {
  Schedule::start(team, collective,
                  *nagaya::coll::hierarchy::algorithm_of(collective, team.nodes()));
  return 0;
}

int run_multi_node(MultiNodeTeam& team, nagaya_collective& collective) {
  if (const int error = start_multi_node(team, collective); error != 0) return error;
  // Acquire: pairs with complete().
  const std::atomic_ref is_complete(collective.is_complete);
  Endpoint::own()->wait(purpose_of(collective.kind),
                        [&] { return is_complete.load(std::memory_order_acquire) != 0; });
  return collective.error;
}

// Checks the arguments and makes a team, which `open` fills in. Returns 0 or an error.
template <class Open>
int make_team(const Membership& own, nagaya_team** out, Open open) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (own.members == nullptr || !own.members->set->has_caller() || out == nullptr ||
      own.context >= MultiNodeTeam::kContexts)
    return -EINVAL;
  if (own.has_threads) endpoint->waits().enable_threads();
  return nagaya::task::guarded([&] {
    Tuning::own().agreed(endpoint->board().tuning);
    auto team = std::make_unique<nagaya_team>();
    const int error = open(*team, *endpoint, own);
    if (error == 0) *out = team.release();
    return error;
  });
}

}  // namespace

int nagaya_coll_open(uint64_t context, const nagaya_processes* members, int threads,
                     nagaya_team** out) {
  return make_team({context, members, threads != 0}, out, open);
}

int nagaya_coll_open_by_messages(uint64_t context, const nagaya_processes* members, int threads,
                                 nagaya_team** out) {
  return make_team({context, members, threads != 0}, out,
                   [](nagaya_team& team, Endpoint& endpoint, const Membership& own) {
                     return open_multi_node(team, endpoint, own, true);
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
  endpoint->wait(Purpose::kOther, [&] { return team->is_idle(); });
  delete team;
  return 0;
}

int nagaya_coll_start(nagaya_team* team, nagaya_collective* collective) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (!is_valid(team, collective)) return -EINVAL;
  count_collective(*endpoint);
  return catch_errors([&] {
    if (team->multi_node) return start_multi_node(*team->multi_node, *collective);
    endpoint->waits().set_partner(team->one_node->partner());
    PendingCollectives& pending = PendingCollectives::own(endpoint->waits());
    return pending.start(*team->one_node, *collective, algorithm_of(*collective, *team->one_node));
  });
}

int nagaya_coll_detach(nagaya_team* team, nagaya_collective* collective) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (team == nullptr || collective->kind != NAGAYA_BCAST || collective->may_detach == 0)
    return -EINVAL;
  if (team->multi_node)
    return catch_errors([&] { return detach_multi_node(*team->multi_node, *collective); });
  // Called with the lock. Returns nullptr when the collective is complete.
  const auto operation = [&] { return static_cast<Operation*>(collective->operation); };
  const int copies = catch_errors([&] {
    const auto lock = team->one_node->locked();
    return operation() != nullptr && operation()->detach() ? 1 : 0;
  });
  if (copies < 0) return copies;
  endpoint->wait(Purpose::kBcast, [&] {
    const auto lock = team->one_node->locked();
    return operation() == nullptr || operation()->has_no_readers();
  });
  return copies;
}

int nagaya_coll_run(nagaya_team* team, nagaya_collective* collective) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (!is_valid(team, collective)) return -EINVAL;
  count_collective(*endpoint);
  if (team->multi_node) {
    // A blocking run does not call `complete`. The caller's value is put back afterwards: the
    // caller may start the same collective later.
    auto* const complete = std::exchange(collective->complete, nullptr);
    const int error = catch_errors([&] { return run_multi_node(*team->multi_node, *collective); });
    collective->complete = complete;
    return error;
  }
  collective->error = 0;
  Team& one_node = *team->one_node;
  Operation operation(one_node, *collective, algorithm_of(*collective, one_node));
  endpoint->waits().set_partner(one_node.partner());
  endpoint->wait(purpose_of(collective->kind), [&] {
    const auto lock = one_node.locked();
    return operation.advance(endpoint->recorder());
  });
  return collective->error;
}

const char* nagaya_coll_algorithm(const nagaya_team* team, const nagaya_collective* collective) {
  if (team == nullptr || !nagaya::coll::is_valid_kind(collective->kind)) return nullptr;
  if (!team->multi_node) return algorithm_of(*collective, *team->one_node).name;
  return nagaya::coll::hierarchy::algorithm_of(*collective, team->multi_node->nodes())->name;
}
