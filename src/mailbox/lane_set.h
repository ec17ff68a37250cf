// SPDX-License-Identifier: BSD-3-Clause
// lane_set.h - lanes to one consumer or several, each claimed by one thread of a task, and a bitmap
// of those that may hold something, so that a consumer polls those only. Each consumer has a share
// of the bitmap's words, and serves the lanes of their bits.
//
//   | stamp, capacity | active: 1 bit a lane | owners: 1 word a lane | lane 0 | lane 1 | ...
//                       ▲ set by the lane's producer after a push, unless a load finds it set
//                       ▼ cleared by the consumer before it sleeps, when it finds the lane empty
//
//   owner   nobody -> owner   that task, by compare-and-swap (claim)
//           owner  -> nobody  that task when the thread ends (release), or the consumer when the
//                             host has reaped the task (reclaim)
//   active  0 -> 1            the producer, after its push; or the consumer, if it finds a cell in
//                             the lane after it has cleared the bit
//           1 -> 0            the consumer
//
//              claim              release  push             drain, before_sleep  reclaim
//   claim      compare-and-swap   any      any              any                  any
//   release                       any      not this lane's  any                  dead owners only
//   push                                   one per lane     any                  dead owners only
//   drain                                                   one per share        same thread
//
// A push stores to a line that the consumer polls, then loads `active`. A fence between the two
// would wait for that line: this wait took 200 of the 300 ns of a request. So the consumer executes
// one heavy fence for both sides.
//
// Progress: lock-free claim, everything else wait-free. A released lane keeps its positions and its
// waiting cells; the next owner continues from there.
// Death of a producer between push and mark: the consumer does not see its last cells, and reclaim
// drops them. Death in a claim: the lane is the dead task's or nobody's.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mailbox/lane.h"
#include "mailbox/owner.h"
#include "task/space/space.h"

namespace nagaya::mailbox {

// The lanes of consumer `index` of `count`, a power of two: those of 64, then of each count-th 64.
struct LaneShare {
  uint32_t index = 0, count = 1;

  static uint32_t index_of(uint32_t lane, uint32_t count) { return lane / 64 & (count - 1); }
  bool has(uint32_t lane) const { return index_of(lane, count) == index; }
};

template <class Cell, class M = Machine>
class LaneSet {
 public:
  static constexpr uint32_t kMaxLanes = 8192;
  static constexpr uint32_t kNoLane = UINT32_MAX;

  static constexpr size_t bytes_for(uint32_t lanes) {
    return sizeof(LaneSet) + lanes * sizeof(Lane<Cell, M>);
  }
  // Called by the host, in zeroed pages of bytes_for(lanes), before any task can see it. Touches
  // one page.
  void init(uint32_t lanes) {
    capacity_ = lanes;
    consumer_fences_ = M::has_heavy_fence() ? 1 : 0;
    stamp_ = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(LaneSet), 0};
  }
  // Whether the caller's build has this layout. Each copy of the library checks it before any other
  // call.
  bool matches() const { return stamp_.matches(sizeof(LaneSet)); }

  // Returns a lane for one thread of `owner`; kNoLane: all are taken. Tasks are dealt out to the
  // words of the bitmap, so that every consumer gets its share of them.
  uint32_t claim(Owner owner) {
    const uint32_t first = owner.bits * 64 % capacity_;
    for (uint32_t n = 0; n < capacity_; ++n) {
      const uint32_t lane = (first + n) % capacity_;
      uint32_t nobody = 0;
      // Acquire: pairs with the release of the owner before; its positions are ours now.
      if (owners_[lane].load(std::memory_order_relaxed) == 0 &&
          owners_[lane].compare_exchange_strong(nobody, owner.bits, std::memory_order_acquire,
                                                std::memory_order_relaxed)) {
        lanes()[lane].adopt();
        return lane;
      }
    }
    return kNoLane;
  }
  void release(uint32_t lane) {
    owners_[lane].store(0, std::memory_order_release);  // pairs with claim
  }

  // Called by the lane's owner. `source` is a cell, or a function that fills one (Lane::push).
  // Returns false: full. True: the caller must ring the consumer's bell, by ring_after_fence().
  template <class Source>
  bool push(uint32_t lane, const Source& source) {
    if (!lanes()[lane].push(source)) return false;
    // Store to `tail` before load of `active`; see before_sleep.
    if (consumer_fences_ != 0) [[likely]]
      M::light_fence();
    else
      M::fence();
    auto& word = active_[lane / 64];
    const uint64_t bit = 1ull << lane % 64;
    if ((word.load(std::memory_order_relaxed) & bit) == 0) {
      word.fetch_or(bit, std::memory_order_seq_cst);  // pairs with drain's load
      M::fence();  // store of `active` before load of the bell; the consumer arms, then loads it
    }
    M::step(StopPoint::kLaneMarked);
    return true;
  }

  // Called by a consumer: one pass over its active lanes. take(lane, cells, count) gets up to
  // wanted(lane) cells of each, kMax at most; wanted(lane) of 0 skips the lane. Returns the number
  // of cells in all.
  template <size_t kMax = 32, class Wanted, class Take>
  size_t drain(Wanted wanted, Take take, LaneShare share = {}) {
    Cell cells[kMax];
    size_t sum = 0;
    for (uint32_t word = share.index; word * 64 < capacity_; word += share.count)
      for (uint64_t bits = active_[word].load(std::memory_order_acquire); bits != 0;
           bits &= bits - 1) {
        const uint32_t lane = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        const size_t most = std::min(wanted(lane), kMax);
        if (most == 0) continue;
        const size_t count = lanes()[lane].drain(cells, most);
        if (count != 0) take(lane, static_cast<const Cell*>(cells), count);
        sum += count;
      }
    return sum;
  }
  template <size_t kMax = 32, class Take>
  size_t drain(Take take) {
    return drain<kMax>([](uint32_t) { return kMax; }, take);
  }

  // Called by a consumer after it has armed its bell. From then on, the next drain finds all
  // earlier pushes, and each later push rings.
  void before_sleep(LaneShare share = {}) {
    uint64_t cleared[kMaxLanes / 64];
    uint64_t any = 0;
    for (uint32_t word = share.index; word * 64 < capacity_; word += share.count) {
      cleared[word] = active_[word].load(std::memory_order_relaxed);
      if (cleared[word] != 0) active_[word].fetch_and(~cleared[word], std::memory_order_seq_cst);
      any |= cleared[word];
    }
    if (any == 0) return;
    // Clear of `active` before load of `tail`; see push.
    if (consumer_fences_ != 0)
      M::heavy_fence();
    else
      M::fence();
    for (uint32_t word = share.index; word * 64 < capacity_; word += share.count)
      for (uint64_t bits = cleared[word]; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(bits));
        if (lanes()[word * 64 + bit].lag() != 0)
          active_[word].fetch_or(1ull << bit, std::memory_order_relaxed);
      }
  }

  // Called by a consumer when the host has reaped `dead`, before its number is used again. Drops
  // the waiting cells of the consumer's share: their commands name memory that goes away.
  void reclaim(Owner dead, LaneShare share = {}) {
    for (uint32_t lane = 0; lane < capacity_; ++lane) {
      if (!share.has(lane) || owners_[lane].load(std::memory_order_relaxed) != dead.bits) continue;
      lanes()[lane].clear();
      owners_[lane].store(0, std::memory_order_release);  // pairs with claim
    }
  }

  uint32_t capacity() const { return capacity_; }
  // Called by the consumer, for a lane that it has just drained: so relaxed suffices.
  Owner owner(uint32_t lane) const { return {owners_[lane].load(std::memory_order_relaxed)}; }
  uint64_t lag(uint32_t lane) const { return lanes()[lane].lag(); }

 private:
  Lane<Cell, M>* lanes() { return reinterpret_cast<Lane<Cell, M>*>(this + 1); }
  const Lane<Cell, M>* lanes() const { return reinterpret_cast<const Lane<Cell, M>*>(this + 1); }

  alignas(kLineBytes) task::Stamp stamp_;
  uint32_t capacity_;
  uint32_t consumer_fences_;  // 0: the kernel has no heavy fence, each side has its own
  alignas(kLineBytes) typename M::template Atomic<uint64_t> active_[kMaxLanes / 64];
  alignas(kLineBytes) typename M::template Atomic<uint32_t> owners_[kMaxLanes];
};

}  // namespace nagaya::mailbox
