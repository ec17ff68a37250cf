// SPDX-License-Identifier: BSD-3-Clause
#include "objects/world.h"

#include <errno.h>
#include <nagaya/comm.h>
#include <nagaya/match.h>
#include <nagaya/task.h>

#include <algorithm>
#include <atomic>
#include <set>

namespace nagaya::mpi {
namespace {

constexpr char kName[] = "mpi process";
constexpr int kUnknown = -1, kNone = -2;

// A task publishes its record; others read it while this task lives.
struct Record {
  std::atomic<int> rank = kUnknown;      // release: match is open. kNone: it does not take part
  int size = 0;                          // stored before `rank`
  std::atomic<bool> is_decided = false;  // of rank 0. Release: the next two are complete
  std::vector<uint32_t> tasks;           // by rank; empty: not all are tasks
  uint32_t context = 0;
};
Record own;

struct Found {
  uint32_t task;
  const Record* record;
};

template <class IsOver>
void wait_until(IsOver is_over) {
  ::nagaya_llcl_wait([](void* over) -> int { return (*static_cast<IsOver*>(over))(); }, &is_over,
                     -1);
}

// Returns all records of the space once each has a rank.
std::vector<Found> find_all() {
  std::vector<Found> all;
  for (int task = 0;; ++task) {
    void* record = nullptr;
    const int error = ::nagaya_task_lookup(task, kName, 0, &record);
    if (error == -EINVAL || error == -ESRCH) return all;
    if (error != 0) continue;
    const auto& its = *static_cast<const Record*>(record);
    wait_until([&] { return its.rank.load(std::memory_order_acquire) != kUnknown; });
    all.push_back({static_cast<uint32_t>(task), &its});
  }
}

// Returns the tasks of jobs whose rank 0 has decided.
std::set<uint32_t> tasks_of_other_jobs(const std::vector<Found>& all) {
  std::set<uint32_t> tasks;
  for (const Found& one : all)
    if (one.record->is_decided.load(std::memory_order_acquire))
      tasks.insert(one.record->tasks.begin(), one.record->tasks.end());
  return tasks;
}

// Returns the tasks of this job by rank; empty: some rank is no task, or is there twice, in another
// job of the same size that begins just now.
std::vector<uint32_t> tasks_of_job(const std::vector<Found>& all, int size, std::string& obstacle) {
  const std::set<uint32_t> others = tasks_of_other_jobs(all);
  std::vector<uint32_t> tasks(static_cast<size_t>(size), UINT32_MAX);
  for (const Found& one : all) {
    const int rank = one.record->rank.load(std::memory_order_relaxed);
    if (rank == kNone || one.record->size != size || others.contains(one.task)) continue;
    if (tasks[static_cast<size_t>(rank)] != UINT32_MAX) {
      obstacle = "another job of this size begins in the space at once";
      return {};
    }
    tasks[static_cast<size_t>(rank)] = one.task;
  }
  const auto missing = std::find(tasks.begin(), tasks.end(), UINT32_MAX);
  if (missing == tasks.end()) return tasks;
  obstacle = "process " + std::to_string(missing - tasks.begin()) + " is no task of this space";
  return {};
}

// Returns the record of this job's rank 0, which has decided; nullptr: it is no task, or has
// decided otherwise.
const Record* find_leader(const std::vector<Found>& all, int rank, int size) {
  for (const Found& one : all) {
    const Record& its = *one.record;
    if (its.rank.load(std::memory_order_relaxed) != 0 || its.size != size) continue;
    wait_until([&] { return its.is_decided.load(std::memory_order_acquire); });
    if (!its.tasks.empty() && its.tasks[static_cast<size_t>(rank)] == ::nagaya_match_self().task)
      return &its;
  }
  return nullptr;
}

}  // namespace

void World::announce() {
  ::nagaya_task_publish(kName, &own);
}

void World::stay_away() {
  own.rank.store(kNone, std::memory_order_release);
}

World World::over_nodes(int rank, int size, uint32_t context) {
  World world;
  if (::nagaya_comm_nodes() <= 1 || ::nagaya_comm_size() != size || ::nagaya_comm_rank() != rank)
    return world;
  stay_away();
  world.context = context;
  world.processes.resize(static_cast<size_t>(size));
  for (int other = 0; other < size; ++other)
    ::nagaya_comm_process(other, &world.processes[static_cast<size_t>(other)]);
  return world;
}

World World::find(int rank, int size, uint32_t context) {
  own.size = size;
  own.rank.store(rank, std::memory_order_release);
  const std::vector<Found> all = find_all();
  World world;
  if (rank == 0) {
    own.tasks = tasks_of_job(all, size, world.obstacle);
    own.context = context;
    own.is_decided.store(true, std::memory_order_release);
  }
  const Record* const leader = find_leader(all, rank, size);
  if (leader == nullptr || leader->context == 0) return world;
  for (const uint32_t task : leader->tasks)
    world.processes.push_back({::nagaya_match_self().node, task});
  world.context = leader->context;
  return world;
}

}  // namespace nagaya::mpi
