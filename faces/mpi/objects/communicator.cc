// SPDX-License-Identifier: BSD-3-Clause
#include "objects/communicator.h"

#include <algorithm>
#include <numeric>

#include "beneath/foreign_call.h"
#include "objects/contexts.h"
#include "objects/handle_table.h"
#include "objects/job.h"
#include "objects/report.h"
#include "objects/world.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

constexpr char kNoContext[] = "all contexts are in use";
constexpr int kContextBits = 30;  // match.h

HandleTable<Communicator> communicators;

int rank_in(MPI_Comm handle) {
  int rank = 0;
  beneath.Comm_rank(handle, &rank);
  return rank;
}

}  // namespace

Communicator* Communicator::find(MPI_Comm handle) {
  return communicators.find(key_of(handle));
}

Communicator* Communicator::find_or_adopt(MPI_Comm handle) {
  Communicator* const known = find(handle);
  if (known != nullptr || Job::has_messages()) return known;
  adopt(handle);
  return find(handle);
}

Communicator::Communicator(MPI_Comm handle, uint32_t context, int rank,
                           std::vector<nagaya_process> processes)
    : handle_(handle),
      context_(context),
      rank_(rank),
      size_(static_cast<int>(processes.size())),
      processes_(std::move(processes)),
      is_over_nodes_(finds_other_nodes()) {}

Communicator::~Communicator() {
  for (nagaya_team* const team : {team_, pending_team_})
    if (team != nullptr) ::nagaya_coll_wait_close(team);
  if (Job::has_messages()) ::nagaya_match_drop(context_);
  if (rank_ == 0) Contexts::give_back(context_);
}

int Communicator::end_by_attribute(MPI_Comm handle, int, void* communicator, void*) {
  const Callback callback;
  communicators.erase(key_of(handle));
  static_cast<Communicator*>(communicator)->release();
  return MPI_SUCCESS;
}

void Communicator::adopt(MPI_Comm handle) {
  int is_inter = 0;
  if (!Job::is_open() || handle == MPI_COMM_NULL) return;
  beneath.Comm_test_inter(handle, &is_inter);
  if (is_inter) return;
  std::string obstacle;
  std::vector<nagaya_process> processes = processes_of(handle, obstacle);
  if (processes.empty()) return tell_of_communicator(handle, obstacle);
  uint32_t context = rank_in(handle) == 0 ? Contexts::take() : 0;
  if (processes.size() != 1 &&
      call_beneath(beneath.Bcast, &context, static_cast<int>(sizeof context), MPI_BYTE, 0,
                   handle) != MPI_SUCCESS)
    return;
  if (context != 0) enter(handle, context, std::move(processes));
  tell_of_communicator(handle, context != 0 ? "" : kNoContext);
}

// All members get the same answer: they are in one MPI_COMM_WORLD, or in none.
std::vector<nagaya_process> Communicator::processes_of(MPI_Comm handle, std::string& obstacle) {
  int size = 0;
  beneath.Comm_size(handle, &size);
  if (size == 1) return {::nagaya_match_self()};
  const Communicator* const world = find(MPI_COMM_WORLD);
  if (world == nullptr) {
    obstacle = "MPI_COMM_WORLD is not in the space";
    return {};
  }
  std::vector<int> ranks(static_cast<size_t>(size)), ranks_in_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group group{}, all{};
  beneath.Comm_group(handle, &group);
  beneath.Comm_group(MPI_COMM_WORLD, &all);
  beneath.Group_translate_ranks(group, size, ranks.data(), all, ranks_in_world.data());
  beneath.Group_free(&group);
  beneath.Group_free(&all);
  std::vector<nagaya_process> processes;
  for (const int rank : ranks_in_world) {
    if (!world->has(rank)) {
      obstacle = "process " + std::to_string(processes.size()) + " is of another job";
      return {};
    }
    processes.push_back(world->process_of(rank));
  }
  return processes;
}

void Communicator::adopt_world() {
  int size = 0;
  const int rank = rank_in(MPI_COMM_WORLD);
  beneath.Comm_size(MPI_COMM_WORLD, &size);
  const uint32_t offer = rank == 0 ? Contexts::take() : 0;
  World world;
  if (!Job::has_messages()) world = World::over_nodes(rank, size, offer);
  if (world.processes.empty()) world = World::find(rank, size, offer);
  if (!world.processes.empty()) enter(MPI_COMM_WORLD, world.context, std::move(world.processes));
  tell_of_communicator(MPI_COMM_WORLD, world.obstacle);
}

void Communicator::adopt_duplicate(MPI_Comm handle, const Communicator& original,
                                   uint32_t context) {
  if (context != 0) enter(handle, context, original.processes_);
  tell_of_communicator(handle, context != 0 ? "" : kNoContext);
}

void Communicator::leave_beneath(MPI_Comm handle) {
  communicators.erase(key_of(handle));
}

void Communicator::enter(MPI_Comm handle, uint32_t context, std::vector<nagaya_process> processes) {
  auto* const made = new Communicator(handle, context, rank_in(handle), std::move(processes));
  communicators.insert(key_of(handle), made);
  static const int keyval = [] {
    int made_key = MPI_KEYVAL_INVALID;
    beneath.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_by_attribute, &made_key, nullptr);
    return made_key;
  }();
  beneath.Comm_set_attr(handle, keyval, made);
}

nagaya_processes* Communicator::open_processes() const {
  nagaya_processes* set = nullptr;
  const int error = ::nagaya_processes_open(processes_.data(), static_cast<uint32_t>(size_),
                                            static_cast<uint32_t>(rank_), &set);
  return error == 0 ? set : nullptr;
}

// MPI's teams are below NAGAYA_TEAMS_WINDOWS.
nagaya_team* Communicator::open_team(uint32_t number) {
  const uint64_t context = (uint64_t{number} << kContextBits) | context_;
  nagaya_processes* const set = context < NAGAYA_TEAMS_WINDOWS ? open_processes() : nullptr;
  if (set == nullptr) return nullptr;
  nagaya_team* team = nullptr;
  if (::nagaya_coll_open(context, set, Job::has_threads(), &team) != 0) team = nullptr;
  ::nagaya_processes_close(set);
  return team;
}

bool Communicator::finds_other_nodes() const {
  if (Job::has_messages()) return false;
  nagaya_processes* const set = open_processes();
  const bool are_here =
      set == nullptr || ::nagaya_processes_are_here(set, 0, static_cast<uint32_t>(size_), 1) != 0;
  if (set != nullptr) ::nagaya_processes_close(set);
  return !are_here;
}

// In a node a number returns after 2^22 windows: a program may make them in a loop. Between nodes
// the leader's contexts, which are few, are told apart from those of leaders of other nodes.
uint64_t Communicator::take_window_context() {
  constexpr uint32_t kNumbers = 1 << 22;
  if (!is_over_nodes_) {
    last_window_ = (last_window_ + 1) % kNumbers;
    return (uint64_t{last_window_} << kContextBits) | context_;
  }
  uint32_t context = rank_ == 0 ? Contexts::take() : 0;
  if (call_beneath(beneath.Bcast, &context, static_cast<int>(sizeof context), MPI_BYTE, 0,
                   handle_) != MPI_SUCCESS ||
      context == 0)
    return kNoWindowContext;
  return (uint64_t{processes_[0].node} << kContextBits) | context;
}

void Communicator::give_window_context_back(uint64_t context) {
  if (rank_ == 0 && is_over_nodes_) Contexts::give_back(static_cast<uint32_t>(context));
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
