// SPDX-License-Identifier: BSD-3-Clause
// process_set.h - ordered sets of the job's processes, to which nodes, their sections and the
// executing nodes refer. There is one object for each set that the program has named.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "faces/processes.h"
#include "nagaya/array.h"
#include "nagaya/coll.h"

namespace nagaya::xmp {

class ProcessSet {
 public:
  // Returns the set of these members, in this order; the first call for a set makes it. `job_ranks`
  // is not empty and names no process twice.
  static ProcessSet& of(const std::vector<uint32_t>& job_ranks);
  // All processes of the job.
  static ProcessSet& world();
  // Closes all teams. Called before the process ends.
  static void close_all();

  uint32_t size() const { return size_; }
  // Returns the rank in the job of the n-th member.
  uint32_t job_rank(uint32_t n) const;
  uint32_t first_job_rank() const { return first_job_rank_; }
  const nagaya_processes* members() const { return members_.get(); }
  // Returns the caller's number in the set; -1: it is no member.
  int64_t own_index() const { return own_index_; }
  bool has_caller() const { return own_index_ >= 0; }
  // Returns the number in the set of the process with this rank in the job; -1: it is no member.
  int64_t index_of(uint32_t job_rank) const;
  bool contains(const ProcessSet& other) const;

  // Returns a name for the set's next array, below 2^55. All members get the same one, because they
  // make the same arrays in the same order.
  uint64_t next_array_name();
  // Returns the team of the set's members, opened at the first call, for a collective that the
  // caller begins now. The set must have the caller and another member. `where`: the place, for
  // fail().
  nagaya_team& team_of_next(const char* where);
  // Returns the rank in the job of a process of this node that has begun a collective which the
  // caller, a member of its set, has not begun; -1: there is none. Called at the program's end.
  static int64_t rank_ahead();

  // Returns what moves sections between the set's members, opened at the first call. The set must
  // have the caller.
  nagaya_transfers& transfers(const char* where);

  // Returns 8 bytes of the set, zero at first, in which xmp.h keeps the set's MPI communicator.
  void* communicator_memory() { return &communicator_memory_; }

  explicit ProcessSet(const std::vector<uint32_t>& job_ranks);

 private:
  bool has_ranks(const std::vector<uint32_t>& job_ranks) const;
  std::string published_name() const;
  bool is_ahead(uint32_t n) const;

  // A hash of the members: the same at all of them, and in all probability different from the hash
  // of any other set.
  const uint64_t hash_;
  const uint32_t size_, first_job_rank_;
  Processes members_;
  int64_t own_index_;
  uint64_t arrays_made_ = 0;
  uint64_t communicator_memory_ = 0;
  nagaya_team* team_ = nullptr;
  nagaya_transfers* transfers_ = nullptr;
  mutable const ProcessSet* contained_ = nullptr;  // last set for which contains() was true
  std::atomic<uint64_t> begun_ = 0;  // collectives; relaxed: others compare it with their own
};

}  // namespace nagaya::xmp
