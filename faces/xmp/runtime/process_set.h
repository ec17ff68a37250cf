// SPDX-License-Identifier: BSD-3-Clause
// process_set.h - ordered sets of the job's processes: nodes, their sections and the executing
// nodes are made of them. There is one object for each set that the program has named.
#pragma once

#include <cstdint>
#include <vector>

#include "nagaya/coll.h"

namespace nagaya::xmp {

class ProcessSet {
 public:
  // The one with these members. Each is there once; not empty.
  static ProcessSet& of(const std::vector<uint32_t>& job_ranks);
  // All processes of the job.
  static ProcessSet& world();
  // Before the process ends.
  static void close_all();

  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  uint32_t job_rank(uint32_t n) const { return ranks_[n]; }
  const std::vector<uint32_t>& job_ranks() const { return ranks_; }
  std::vector<nagaya_process> processes() const;
  // The caller's place; -1: it is no member.
  int64_t own() const { return own_; }
  bool has_caller() const { return own_ >= 0; }
  int64_t place_of(uint32_t job_rank) const;
  bool contains(const ProcessSet& other) const;

  // The same number at all members, and, in all probability, no other set's: a hash of them.
  uint64_t name() const { return name_; }
  // Of the set's next array, below 2^55: the same at all members, which make the same arrays in the
  // same order.
  uint64_t next_array_name();
  // Of a set of several that has the caller; opened at the first use. `where`: as fail() has it.
  nagaya_team& team(const char* where);

  // Memory of the set's, zero at first: xmp.h keeps an MPI's communicator there.
  void* kept() { return &kept_; }

  explicit ProcessSet(std::vector<uint32_t> job_ranks);

 private:
  void close();

  const std::vector<uint32_t> ranks_;
  const uint64_t name_;
  int64_t own_;
  uint64_t arrays_made_ = 0;
  uint64_t kept_ = 0;
  nagaya_team* team_ = nullptr;
  std::vector<uint32_t> sorted_;
  mutable const ProcessSet* contained_ = nullptr;  // that contains() has found last
};

}  // namespace nagaya::xmp
