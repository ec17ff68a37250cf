// SPDX-License-Identifier: BSD-3-Clause
// lane.h - a queue of cells of one cache line from one producer to one consumer.
//
//   producer's lines                consumer's line          cells
//   | tail | | next | head, as seen | | head | tail, as seen | | 0 | 1 | ... | 255 |
//
//   Positions count cells for ever; cell = position % 256.
//   head .. tail-1     published, not drained
//   tail .. head+255   free
//
// Each side writes its own lines only, and reads the other's only when its last value from there
// does not suffice. The producer does not read `tail`: the consumer that polls it has taken the
// line away (70 ns); it counts in `next`, which nobody else reads. All zero is the empty lane: it
// may lie in pages that nobody has touched.
//
//              push                   drain
//   push       one thread at a time   any
//   drain                             one thread at a time
//
// Progress: wait-free both. Death of a producer: before the store to `tail` the cell was never
// there, after it the cell is whole; the next producer adopts the lane first. Death of a consumer:
// cells up to `head` were drained; those it copied since are drained again by the next.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mailbox/machine.h"

namespace nagaya::mailbox {

template <class Cell, class M = Machine>
class Lane {
  static_assert(sizeof(Cell) == kLineBytes && std::is_trivially_copyable_v<Cell>);

 public:
  static constexpr uint64_t kCells = 256;

  // fill(cell) writes all of a cell, in its place: a copy of what was stored a moment ago by fields
  // would wait until those stores have left the store buffer, and all before them. False: full,
  // nothing has changed.
  template <std::invocable<Cell&> Fill>
  bool push(Fill fill) {
    if (next_ - head_seen_ == kCells) {
      // Acquire: pairs with drain's release; it has copied the cells that are overwritten now.
      head_seen_ = head_.load(std::memory_order_acquire);
      if (next_ - head_seen_ == kCells) return false;
    }
    fill(cells_[next_ % kCells]);
    M::step(StopPoint::kLaneWritten);
    tail_.store(++next_, std::memory_order_release);  // pairs with drain's acquire
    M::step(StopPoint::kLanePublished);
    return true;
  }

  bool push(const Cell& cell) {
    return push([&](Cell& free) { free = cell; });
  }

  // Before a producer's first push, if another may have died in one.
  void adopt() { next_ = tail_.load(std::memory_order_relaxed); }

  // Moves up to `max` cells, the oldest first, to `out`. How many.
  size_t drain(Cell* out, size_t max) {
    const uint64_t head = head_.load(std::memory_order_relaxed);  // only a consumer writes it
    if (tail_seen_ - head < max) tail_seen_ = tail_.load(std::memory_order_acquire);  // of push
    const uint64_t count = tail_seen_ - head < max ? tail_seen_ - head : max;
    for (uint64_t n = 0; n < count; ++n) out[n] = cells_[(head + n) % kCells];
    if (count != 0) head_.store(head + count, std::memory_order_release);  // pairs with push
    return count;
  }

  // How many cells wait; from outside an estimate. Relaxed: nothing is read on its strength.
  uint64_t lag() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);  // first: it never passes `tail`
    return tail_.load(std::memory_order_relaxed) - head;
  }

  // The consumer throws away what waits.
  void clear() {
    tail_seen_ = tail_.load(std::memory_order_acquire);
    head_.store(tail_seen_, std::memory_order_release);
  }

 private:
  alignas(kLineBytes) typename M::template Atomic<uint64_t> tail_;
  alignas(kLineBytes) uint64_t next_;
  uint64_t head_seen_;
  alignas(kLineBytes) typename M::template Atomic<uint64_t> head_;
  uint64_t tail_seen_;
  alignas(kLineBytes) Cell cells_[kCells];
};

}  // namespace nagaya::mailbox
