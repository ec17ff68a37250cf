// SPDX-License-Identifier: BSD-3-Clause
#include "objects/communicator.h"

#include <nagaya/task.h>


#include "beneath/foreign_call.h"
#include "objects/contexts.h"
#include "objects/handle_table.h"
#include "objects/job.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

HandleTable<Communicator> communicators;

// What the members of a new communicator tell each other.
struct Member {
  uint64_t space;  // of a task; 0: it cannot be reached
  nagaya_process process;
  uint32_t context;  // the leader's offer; 0: there is none
};

}  // namespace

Communicator* Communicator::find(MPI_Comm handle) { return communicators.find(key_of(handle)); }

Communicator::Communicator(MPI_Comm handle, uint32_t context, int rank,
                           std::vector<nagaya_process> processes)
    : handle_(handle),
      context_(context),
      rank_(rank),
      size_(static_cast<int>(processes.size())),
      processes_(std::move(processes)) {}

Communicator::~Communicator() {
  if (team_ != nullptr) ::nagaya_coll_wait_close(team_);
  ::nagaya_match_drop(context_);
  if (rank_ == 0) Contexts::give_back(context_);
}

void Communicator::release() {
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

int Communicator::end_by_attribute(MPI_Comm handle, int, void* communicator, void*) {
  const Callback callback;
  communicators.erase(key_of(handle));
  static_cast<Communicator*>(communicator)->release();
  return MPI_SUCCESS;
}

void Communicator::adopt(MPI_Comm handle) {
  int is_inter = 0, rank = 0, size = 0;
  if (!Job::is_open() || handle == MPI_COMM_NULL) return;
  beneath.Comm_test_inter(handle, &is_inter);
  if (is_inter) return;
  beneath.Comm_rank(handle, &rank);
  beneath.Comm_size(handle, &size);
  const Member self{::nagaya_space_identity(), ::nagaya_match_self(), rank == 0 ? Contexts::take() : 0};
  std::vector<Member> members(static_cast<size_t>(size));
  const ForeignCall call;
  if (beneath.Allgather(&self, sizeof self, MPI_BYTE, members.data(), sizeof self, MPI_BYTE, handle) !=
      MPI_SUCCESS)
    return;
  std::vector<nagaya_process> processes;
  for (const Member& member : members) {
    if (member.space != self.space || members[0].context == 0) return;
    processes.push_back(member.process);
  }
  auto* const made = new Communicator(handle, members[0].context, rank, std::move(processes));
  communicators.insert(key_of(handle), made);
  static const int keyval = [] {
    int made_key = MPI_KEYVAL_INVALID;
    beneath.Comm_create_keyval(nullptr, end_by_attribute, &made_key, nullptr);
    return made_key;
  }();
  beneath.Comm_set_attr(handle, keyval, made);
}

// MPI's teams are below NAGAYA_TEAMS_XMP.
nagaya_team* Communicator::open_team(uint32_t number) {
  constexpr int kContextBits = 30;
  const uint64_t context = (uint64_t{number} << kContextBits) | context_;
  nagaya_processes* set = nullptr;
  nagaya_team* team = nullptr;
  if (context >= NAGAYA_TEAMS_XMP ||
      ::nagaya_processes_open(processes_.data(), static_cast<uint32_t>(size_), static_cast<uint32_t>(rank_),
                              &set) != 0)
    return nullptr;
  if (::nagaya_coll_open(context, set, Job::has_threads(), &team) != 0) team = nullptr;
  ::nagaya_processes_close(set);
  return team;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
