// SPDX-License-Identifier: BSD-3-Clause
// communicator.h - a communicator whose processes are all in reach: its messages and collectives
// are ours.
//
// Decided once for all of its members, when it is made (adopt()). One whose handle is not in the
// table is the MPI's beneath, in every function. It ends with an attribute of the communicator
// beneath, so by whatever function that is freed; pending requests keep it.
#pragma once

#include <nagaya/coll.h>
#include <nagaya/match.h>

#include <string>
#include <vector>

#include "beneath/functions.h"
#include "objects/owners.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Communicator {
 public:
  // Returns nullptr if it is not ours.
  static Communicator* find(MPI_Comm handle);
  // Called by all processes of a communicator. Where only windows are ours communicators are
  // adopted when their first window is made, so that others cost nothing.
  static Communicator* find_or_adopt(MPI_Comm handle);

  // Called by all processes of a communicator that has just been made: makes it ours if all of them
  // are in an MPI_COMM_WORLD that is ours. (Others, of spawned or connected jobs, need not have the
  // face.) Collective then, by the MPI beneath. Nothing happens for MPI_COMM_NULL and
  // intercommunicators.
  static void adopt(MPI_Comm handle);
  // Makes MPI_COMM_WORLD ours, without a collective (world.h).
  static void adopt_world();
  // Makes a duplicate ours, whose members have agreed on a context; 0: they have not. Local.
  static void adopt_duplicate(MPI_Comm handle, const Communicator& original, uint32_t context);

  // The communicator is the MPI's beneath from now on. Pending requests of ours go on. Local.
  static void leave_beneath(MPI_Comm handle);

  MPI_Comm handle() const { return handle_; }
  uint32_t context() const { return context_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool has(int rank) const { return rank >= 0 && rank < size_; }
  // `rank`: one that it has.
  nagaya_process process_of(int rank) const { return processes_[static_cast<size_t>(rank)]; }

  // The members' team for blocking collectives, opened by the first call. nullptr: no memory. The
  // standard forbids two threads to call collectives of one communicator at once.
  nagaya_team* team() {
    if (team_ == nullptr) [[unlikely]]
      team_ = open_team(0);
    return team_;
  }
  // That for non-blocking ones, likewise. The standard wants one order of all collectives, but MPIs
  // tell the two apart, and programs exist that begin one before a barrier here and behind it
  // there.
  nagaya_team* pending_team() {
    if (pending_team_ == nullptr) pending_team_ = open_team(kPendingNumber);
    return pending_team_;
  }
  // Opens another team of the members; the caller closes it. nullptr: no memory.
  nagaya_team* open_team(uint32_t number);
  // Returns a number from 2 on, which no other persistent collective of the communicator has: its
  // teams, and its messages, are told apart by it. All members call it in one order.
  uint32_t take_number() { return ++last_number_; }
  // Whether its processes live on several nodes: only beside components, which carry messages then.
  bool is_over_nodes() const { return is_over_nodes_; }
  // Returns a context for a new window (nagaya/window.h), or kNoWindowContext: all are in use. All
  // members call it in one order, and give it back when the window has ended.
  static constexpr uint64_t kNoWindowContext = UINT64_MAX;
  uint64_t take_window_context();
  void give_window_context_back(uint64_t context);
  // Returns the members, which the caller closes. nullptr: no memory.
  nagaya_processes* open_processes() const;

  // Called by the owner of each further pointer to this; the last release() ends it.
  void hold() { owners_.add(); }
  void release() {
    if (owners_.remove()) delete this;
  }

 private:
  Communicator(MPI_Comm handle, uint32_t context, int rank, std::vector<nagaya_process> processes);
  ~Communicator();

  bool finds_other_nodes() const;
  static std::vector<nagaya_process> processes_of(MPI_Comm handle, std::string& obstacle);
  static void enter(MPI_Comm handle, uint32_t context, std::vector<nagaya_process> processes);
  static int end_by_attribute(MPI_Comm handle, int keyval, void* communicator, void* extra);

  const MPI_Comm handle_;
  const uint32_t context_;
  const int rank_, size_;
  const std::vector<nagaya_process> processes_;
  const bool is_over_nodes_;
  static constexpr uint32_t kPendingNumber = 1;
  nagaya_team *team_ = nullptr, *pending_team_ = nullptr;
  uint32_t last_number_ = kPendingNumber, last_window_ = 0;
  Owners owners_;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
