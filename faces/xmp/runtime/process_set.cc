// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/process_set.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/job.h"
#include "nagaya/task.h"

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

using Sets = std::multimap<uint64_t, std::unique_ptr<ProcessSet>>;  // by hash

Sets& sets() {
  static auto* const all = new Sets;
  return *all;
}

}  // namespace

ProcessSet::ProcessSet(const std::vector<uint32_t>& job_ranks)
    : hash_(hash_of(job_ranks)),
      size_(static_cast<uint32_t>(job_ranks.size())),
      first_job_rank_(job_ranks.front()) {
  std::vector<nagaya_process> processes;
  for (const uint32_t rank : job_ranks) processes.push_back(Job::own().process(rank));
  const auto found = std::find(job_ranks.begin(), job_ranks.end(), Job::own().rank());
  const bool has_caller = found != job_ranks.end();
  own_index_ = has_caller ? found - job_ranks.begin() : -1;
  const int error = open_processes(
      processes, has_caller ? static_cast<uint32_t>(own_index_) : NAGAYA_NOT_A_MEMBER, members_);
  if (error != 0) fail(nullptr, "nagaya_processes_open() says " + reason_of(error));
}

bool ProcessSet::has_ranks(const std::vector<uint32_t>& job_ranks) const {
  if (size() != job_ranks.size()) return false;
  for (uint32_t n = 0; n < size(); ++n)
    if (job_rank(n) != job_ranks[n]) return false;
  return true;
}

ProcessSet& ProcessSet::of(const std::vector<uint32_t>& job_ranks) {
  const uint64_t hash = hash_of(job_ranks);
  for (auto [at, end] = sets().equal_range(hash); at != end; ++at)
    if (at->second->has_ranks(job_ranks)) return *at->second;
  return *sets().emplace(hash, std::make_unique<ProcessSet>(job_ranks))->second;
}

ProcessSet& ProcessSet::world() {
  static ProcessSet* const all = [] {
    std::vector<uint32_t> ranks(Job::own().size());
    std::iota(ranks.begin(), ranks.end(), 0u);
    return &of(ranks);
  }();
  return *all;
}

uint32_t ProcessSet::job_rank(uint32_t n) const {
  nagaya_process process;
  nagaya_processes_at(members(), n, &process);
  return Job::own().rank_of(process);
}

int64_t ProcessSet::index_of(uint32_t job_rank) const {
  return std::max<int64_t>(nagaya_processes_rank_of(members(), Job::own().process(job_rank)), -1);
}

bool ProcessSet::contains(const ProcessSet& other) const {
  if (&other == this || &other == contained_) return true;
  for (uint32_t n = 0; n < other.size(); ++n)
    if (index_of(other.job_rank(n)) < 0) return false;
  contained_ = &other;
  return true;
}

uint64_t ProcessSet::next_array_name() {
  return mixed(hash_, ++arrays_made_) & ((uint64_t{1} << 55) - 1);
}

// The name under which each member that has opened the set's team publishes `begun_`.
std::string ProcessSet::published_name() const {
  return "nagaya.xmp." + std::to_string(hash_);
}

// Whether the n-th member is on this node and has begun more collectives than the caller.
bool ProcessSet::is_ahead(uint32_t n) const {
  nagaya_process process;
  void* begun = nullptr;
  return nagaya_processes_are_here(members(), n, 1, 1) == 1 &&
         nagaya_processes_at(members(), n, &process) == 0 &&
         nagaya_task_lookup(static_cast<int>(process.task), published_name().c_str(), 0, &begun) ==
             0 &&
         static_cast<const std::atomic<uint64_t>*>(begun)->load(std::memory_order_relaxed) >
             begun_.load(std::memory_order_relaxed);
}

int64_t ProcessSet::rank_ahead() {
  for (const auto& [hash, set] : sets())
    for (uint32_t n = 0; set->has_caller() && n < set->size(); ++n)
      if (set->is_ahead(n)) return set->job_rank(n);
  return -1;
}

nagaya_team& ProcessSet::team_of_next(const char* where) {
  if (team_ == nullptr) {
    const uint64_t context = NAGAYA_TEAMS_XMP | (hash_ & (NAGAYA_TEAMS_XMP - 1));
    // Waiting threads of an MPI library in the program may advance this team's collectives.
    constexpr int kHasThreads = 1;
    const int error = nagaya_coll_open(context, members(), kHasThreads, &team_);
    if (error != 0) fail(where, "nagaya_coll_open() says " + reason_of(error));
    check(where, "nagaya_task_publish", nagaya_task_publish(published_name().c_str(), &begun_));
  }
  begun_.store(begun_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return *team_;
}

nagaya_transfers& ProcessSet::transfers(const char* where) {
  if (transfers_ == nullptr)
    if (const int error = nagaya_transfers_open(members(), next_array_name(), &transfers_);
        error != 0)
      fail(where, "nagaya_transfers_open() says " + reason_of(error));
  return *transfers_;
}

void ProcessSet::close_all() {
  for (auto& [hash, set] : sets()) {
    if (set->transfers_ != nullptr) nagaya_transfers_close(std::exchange(set->transfers_, nullptr));
    // Waits until the other members have received the team's broadcasts.
    if (set->team_ != nullptr) nagaya_coll_wait_close(std::exchange(set->team_, nullptr));
  }
}

}  // namespace nagaya::xmp
