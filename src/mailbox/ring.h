// SPDX-License-Identifier: BSD-3-Clause
// ring.h - the queue to a delegatee that Endo and Taura published (2016): one ring for all threads
// of all tasks. NAGAYA_QUEUE=ring puts it in the place of the lanes (lane_set.h), to measure both
// behind the same interface. It is part of the runtime and not of a benchmark program: the cost of
// a queue shows only together with waits, the delegatee's rounds and batches (`nagaya bench
// requests`). The price is one load for each request, which finds out whether there is a ring.
//
//   | tail | head | cell 0 | cell 1 | ... | cell 1023 |
//                       ▲ | item, 64 bytes | lane | visible |
//
//   Positions count cells for ever; cell = position % 1024.
//   head .. tail-1      reserved; visible or about to be
//   tail .. head+1023   free
//
//   free     -> reserved   producer   compare-and-swap of `tail`
//   reserved -> visible    producer   store of `visible`, after the item
//   visible  -> free       consumer   store of `visible`, then of `head`
//
//           push               drain           drop
//   push    compare-and-swap   any             any
//   drain                      one consumer    same thread
//
// Progress: push is lock-free. drain is blocking: it hands over nothing beyond a position that is
// reserved and not visible. Death of a producer there stops the queue for everybody, until the job
// ends; elsewhere its items are whole, and drop() finds them. Lanes are the default because of
// that, because producers starve each other at `tail`, and because an item that the consumer cannot
// accept yet holds up all behind it (facts and figures: docs/delegatee.md).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mailbox/machine.h"

namespace nagaya::mailbox {

template <class Item, class M = Machine>
class Ring {
  static_assert(std::is_trivially_copyable_v<Item>);

 public:
  static constexpr uint64_t kCells = 1024;

  // Called by the thread that has claimed the lane; fill(item) writes all of an item. Returns
  // false: full, nothing has changed. True: the caller must ring the consumer's bell
  // (ring_after_fence() suffices, because push ends with a full fence).
  template <std::invocable<Item&> Fill>
  bool push(uint32_t lane, Fill fill) {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    do {
      // Acquire: pairs with drain, which has copied the item that is overwritten now. An outdated
      // `tail` may lie before `head`: its swap will fail.
      const uint64_t head = head_.load(std::memory_order_acquire);
      if (static_cast<int64_t>(tail - head) >= static_cast<int64_t>(kCells)) return false;
      // Relaxed: it only decides which producer gets the cell.
    } while (!tail_.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed,
                                          std::memory_order_relaxed));
    Cell& cell = cells_[tail % kCells];
    fill(cell.item);
    cell.lane = lane;
    cell.visible.store(1, std::memory_order_release);  // pairs with drain
    M::fence();  // store of `visible` before load of the bell; see ThreadBell::arm
    return true;
  }

  bool push(uint32_t lane, const Item& item) {
    return push(lane, [&](Item& free) { free = item; });
  }

  // Called by the consumer: calls take(lane, item, 1) for up to `max` items in order, and stops at
  // the first one that is not visible or whose wanted(lane) is 0. Returns how many items it
  // removed. After a 0 the consumer may sleep: a producer rings after it has made an item visible.
  template <class Wanted, class Take>
  size_t drain(size_t max, Wanted wanted, Take take) {
    size_t count = 0;
    for (uint64_t head = head_.load(std::memory_order_relaxed); count < max; ++count) {
      Cell& cell = cells_[head % kCells];
      if (cell.visible.load(std::memory_order_acquire) == 0) break;  // pairs with push
      const uint32_t lane = cell.lane;
      if (lane != kDropped && wanted(lane) == 0) break;
      const Item item = cell.item;
      cell.visible.store(0, std::memory_order_relaxed);  // before `head` is seen
      head_.store(++head, std::memory_order_release);    // pairs with push
      if (lane != kDropped) take(lane, &item, size_t{1});
    }
    return count;
  }

  // Called by the consumer for a task that has ended: drain will not hand over its items, for which
  // is_it(item) is true.
  template <class Predicate>
  void drop(Predicate is_it) {
    // Relaxed: the items of the dead were visible long before.
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    for (uint64_t at = head_.load(std::memory_order_relaxed); at < tail; ++at) {
      Cell& cell = cells_[at % kCells];
      // Acquire: pairs with push.
      if (cell.visible.load(std::memory_order_acquire) != 0 && is_it(cell.item))
        cell.lane = kDropped;
    }
  }

 private:
  static constexpr uint32_t kDropped = UINT32_MAX;
  struct alignas(kLineBytes) Cell {
    Item item;
    uint32_t lane;
    typename M::template Atomic<uint32_t> visible;
  };

  alignas(kLineBytes) typename M::template Atomic<uint64_t> tail_;
  alignas(kLineBytes) typename M::template Atomic<uint64_t> head_;
  Cell cells_[kCells];
};

}  // namespace nagaya::mailbox
