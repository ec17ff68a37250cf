// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/process_set.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/job.h"

namespace nagaya::xmp {
namespace {

// Returns the generator SplitMix64's next number (Steele, Lea, Flood 2014) for the state plus
// `with`: every bit of the result depends on every bit of the sum.
uint64_t mixed(uint64_t state, uint64_t with) {
  uint64_t z = state + with + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t hash_of(const std::vector<uint32_t>& ranks) {
  uint64_t hash = ranks.size();
  for (const uint32_t rank : ranks) hash = mixed(hash, rank);
  return hash;
}

using Sets = std::map<std::vector<uint32_t>, std::unique_ptr<ProcessSet>>;

Sets& sets() {
  static auto* const all = new Sets;
  return *all;
}

}  // namespace

ProcessSet::ProcessSet(std::vector<uint32_t> job_ranks)
    : ranks_(std::move(job_ranks)), hash_(hash_of(ranks_)), sorted_(ranks_) {
  own_index_ = index_of(Job::own().rank());
  std::sort(sorted_.begin(), sorted_.end());
}

ProcessSet& ProcessSet::of(const std::vector<uint32_t>& job_ranks) {
  std::unique_ptr<ProcessSet>& set = sets()[job_ranks];
  if (set == nullptr) set = std::make_unique<ProcessSet>(job_ranks);
  return *set;
}

ProcessSet& ProcessSet::world() {
  static ProcessSet* const all = [] {
    std::vector<uint32_t> ranks(Job::own().size());
    std::iota(ranks.begin(), ranks.end(), 0u);
    return &of(ranks);
  }();
  return *all;
}

std::vector<nagaya_process> ProcessSet::processes() const {
  std::vector<nagaya_process> processes;
  for (const uint32_t rank : ranks_) processes.push_back(Job::own().process(rank));
  return processes;
}

int64_t ProcessSet::index_of(uint32_t job_rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), job_rank);
  return found == ranks_.end() ? -1 : found - ranks_.begin();
}

bool ProcessSet::contains(const ProcessSet& other) const {
  if (&other == this || &other == contained_) return true;
  if (!std::includes(sorted_.begin(), sorted_.end(), other.sorted_.begin(), other.sorted_.end()))
    return false;
  contained_ = &other;
  return true;
}

uint64_t ProcessSet::next_array_name() {
  return mixed(hash_, ++arrays_made_) & ((uint64_t{1} << 55) - 1);
}

nagaya_team& ProcessSet::team(const char* where) {
  if (team_ == nullptr) {
    const uint64_t context = NAGAYA_TEAMS_XMP | (hash_ & (NAGAYA_TEAMS_XMP - 1));
    // Waiting threads of an MPI library in the program may advance this team's collectives.
    constexpr int kHasThreads = 1;
    const int error = nagaya_coll_open(context, processes().data(), size(),
                                       static_cast<uint32_t>(own_index_), kHasThreads, &team_);
    if (error != 0) fail(where, "nagaya_coll_open() says " + reason_of(error));
  }
  return *team_;
}

// Waits until the other members have received the team's broadcasts, then closes the team.
void ProcessSet::close() {
  if (team_ == nullptr) return;
  nagaya_coll_wait_close(std::exchange(team_, nullptr));
}

void ProcessSet::close_all() {
  for (auto& [ranks, set] : sets()) set->close();
}

}  // namespace nagaya::xmp
