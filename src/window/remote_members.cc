// SPDX-License-Identifier: BSD-3-Clause
#include "window/remote_members.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nagaya::window {
namespace {

void run_collective(nagaya_team* team, nagaya_collective& collective) {
  if (const int error = ::nagaya_coll_run(team, &collective); error != 0)
    throw base::Error(error, "a window's members cannot synchronise");
}

}  // namespace

RemoteMembers::RemoteMembers(uint64_t context, const nagaya_processes& members,
                             std::shared_ptr<const processes::ProcessSet> set, bool has_threads)
    : set_(std::move(set)), has_threads_(has_threads), members_(set_->size()) {
  const int error =
      ::nagaya_coll_open(NAGAYA_TEAMS_WINDOWS | context, &members, has_threads, &team_);
  if (error != 0) throw base::Error(error, "a window's members have no team");
}

RemoteMembers::~RemoteMembers() {
  if (own_memory_.region != 0) ::nagaya_llcl_deregister(&own_memory_);
  if (own_part_.region != 0) ::nagaya_llcl_deregister(&own_part_);
  ::nagaya_coll_wait_close(team_);
}

int RemoteMembers::register_own(Window& window, Registration& own) {
  const Part& part = window.part(window.rank());
  own.bytes = part.bytes;
  own.unit = part.unit;
  own.kind = part.kind;
  auto* const words = const_cast<Part*>(&part);
  int error = ::nagaya_llcl_register(words, Part::bytes_for(window.size()), &own_part_);
  if (error == 0 && part.bytes != 0)
    error = ::nagaya_llcl_register(part.base, part.bytes, &own_memory_);
  if (error == 0 && window.is_dynamic()) {
    published_.emplace(words->attached_list);
    found_.resize(window.size());
  }
  own.part_region = own_part_.region;
  own.memory_region = own_memory_.region;
  return error;
}

int RemoteMembers::gather(const Registration& own, std::vector<Registration>& all) {
  nagaya_collective allgather{};
  allgather.kind = NAGAYA_ALLGATHER;
  allgather.send.base = const_cast<Registration*>(&own);
  allgather.receive.base = all.data();
  allgather.send.bytes = allgather.receive.bytes = sizeof own;
  allgather.receive.stride = sizeof own;
  run_collective(team_, allgather);
  for (const Registration& one : all)
    if (one.error != 0) return one.error;
  const bool are_equal =
      std::ranges::all_of(all, [&](const Registration& one) { return one.kind == all[0].kind; });
  return are_equal ? 0 : -EINVAL;
}

int RemoteMembers::exchange(Window& window, int error) {
  std::vector<Registration> all(window.size());
  Registration own{};
  own.error = error != 0 ? error : register_own(window, own);
  if (const int failure = gather(own, all); failure != 0) return failure;
  for (uint32_t rank = 0; rank < window.size(); ++rank)
    static_cast<Registration&>(members_[rank]) = all[rank];
  return 0;
}

void RemoteMembers::barrier() {
  nagaya_collective barrier{};
  barrier.kind = NAGAYA_BARRIER;
  run_collective(team_, barrier);
}

int RemoteMembers::flush(Count& count) {
  const uint64_t started = std::atomic_ref(count.started).load(std::memory_order_relaxed);
  return started == 0 ? 0 : ::nagaya_llcl_wait_counter(&count.completed, started, -1);
}

int RemoteMembers::flush_all() {
  int error = 0;
  for (uint32_t rank = 0; rank < members_.size(); ++rank) error = std::min(error, flush(rank));
  return error;
}

void RemoteMembers::post(uint32_t rank) {
  const uint32_t own = set_->rank();
  signal(rank, change(offsetof(Part, posts) + own / 64 * sizeof(uint64_t), NAGAYA_OR,
                      uint64_t{1} << own % 64));
}

void RemoteMembers::complete(uint32_t rank) {
  signal(rank, change(offsetof(Part, completed), NAGAYA_ADD, uint64_t{1}));
}

// ---- dynamic windows ----------------------------------------------------------------------------

int RemoteMembers::read(uint32_t rank, uint32_t region, void* to, uint64_t bytes) {
  return run([&](const nagaya_completion& on_complete) {
    const nagaya_llcl_transfer transfer{place_in_region(rank, region, 0), to, bytes, on_complete};
    return ::nagaya_llcl_try_read(&transfer);
  });
}

// Reads the list that `word` names. Returns false if it is gone, or was read while it changed.
bool RemoteMembers::read_list(uint32_t rank, uint64_t word, std::vector<AttachedRegion>& regions) {
  AttachedList head;
  if (read(rank, region_of_list(word), &head, sizeof head) != 0 || head.count > head.capacity)
    return false;
  std::vector<std::byte> all(sizeof head + head.count * sizeof(AttachedRegion));
  if (read(rank, region_of_list(word), all.data(), all.size()) != 0) return false;
  regions.resize(head.count);
  std::memcpy(regions.data(), all.data() + sizeof head, all.size() - sizeof head);
  return true;
}

void RemoteMembers::find_attachments(uint32_t rank) {
  constexpr uint64_t kAt = offsetof(Part, attached_list);
  std::vector<AttachedRegion> regions;
  for (uint64_t word = apply(rank, load<uint64_t>(kAt)); word != 0;) {
    const bool has_come = read_list(rank, word, regions);
    const uint64_t now = apply(rank, load<uint64_t>(kAt));
    if (has_come && now == word) break;
    word = now;
  }
  const std::lock_guard lock(attachments_lock_);
  found_[rank].set(std::move(regions));
}

nagaya_remote RemoteMembers::find_attached(uint32_t rank, uint64_t begin, uint64_t bytes,
                                           bool is_new) {
  for (bool has_asked = false;; has_asked = true) {
    if (is_new || has_asked) find_attachments(rank);
    const std::lock_guard lock(attachments_lock_);
    const AttachedRegion* const region = found_[rank].find(begin, bytes);
    if (region != nullptr) return place_in_region(rank, region->region, begin - region->begin);
    if (is_new || has_asked) return place_in_region(rank, 0, 0);
  }
}

// ---- words --------------------------------------------------------------------------------------

nagaya_llcl_atomic RemoteMembers::atomic(uint32_t rank, const Change& change, uint64_t* before,
                                         const nagaya_completion& on_complete) const {
  return {place_in_region(rank, members_[rank].part_region, change.at),
          change.operation,
          change.type,
          change.operand,
          change.expected,
          before,
          on_complete};
}

void RemoteMembers::apply(uint32_t rank, std::span<const Change> changes, uint64_t* before) {
  uint32_t done[kChangesAtOnce] = {};
  int error = 0;
  size_t started = 0;
  for (; started < changes.size(); ++started) {
    const nagaya_llcl_atomic what =
        atomic(rank, changes[started], &before[started], ::nagaya_flag(&done[started]));
    wait(llcl::Purpose::kRequest,
         [&] { return (error = ::nagaya_llcl_try_atomic(&what)) != -EAGAIN; });
    if (error != 0) break;
  }
  for (size_t n = 0; n < started; ++n) {
    const int failure = ::nagaya_llcl_wait_flag(&done[n], -1);
    if (error == 0) error = failure;
  }
  if (error != 0) throw base::Error(error, "a member of the window on another node is lost");
}

void RemoteMembers::signal(uint32_t rank, const Change& change) {
  if (has_threads_) flush(rank);  // the accesses of other threads
  const int error = start(signals_, [&](const nagaya_completion& on_complete) {
    const nagaya_llcl_atomic what = atomic(rank, change, nullptr, on_complete);
    return ::nagaya_llcl_try_atomic_behind(&what);
  });
  if (error != 0) throw base::Error(error, "a member of the window on another node is lost");
}

}  // namespace nagaya::window
