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
// does not suffice. The producer does not read `tail`, because the polling consumer has taken its
// cache line (70 ns); it counts in `next`, which nobody else reads. A lane of zeros is empty: it
// may lie in pages that nobody has touched.
//
//              push                   drain
//   push       one thread at a time   any
//   drain                             one thread at a time
//
// Progress: wait-free both. Death of a producer: before the store to `tail` the cell is not
// published, after it the cell is whole; the next producer calls adopt() first. Death of a
// consumer: cells before `head` were drained. The next consumer drains once more the cells that the
// dead one had copied without moving `head`.
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

  // Publishes one cell. fill(cell) writes all of it in place: copying a cell whose fields were
  // stored just before would wait until those stores, and all before them, have left the store
  // buffer. Returns false: full, nothing has changed.
  template <std::invocable<Cell&> Fill>
  bool push(Fill fill) {
    if (next_ - head_seen_ == kCells) {
      // Acquire: pairs with drain's release: drain has copied the cells that are overwritten now.
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

  // Called before a producer's first push, if an earlier producer may have died in a push.
  void adopt() { next_ = tail_.load(std::memory_order_relaxed); }

  // Moves up to `max` cells, the oldest first, to `out`. Returns how many.
  size_t drain(Cell* out, size_t max) {
    const uint64_t head = head_.load(std::memory_order_relaxed);  // only a consumer writes it
    // Acquire: pairs with push's release.
    if (tail_seen_ - head < max) tail_seen_ = tail_.load(std::memory_order_acquire);
    const uint64_t count = tail_seen_ - head < max ? tail_seen_ - head : max;
    for (uint64_t n = 0; n < count; ++n) out[n] = cells_[(head + n) % kCells];
    if (count != 0) head_.store(head + count, std::memory_order_release);  // pairs with push
    return count;
  }

  // Returns how many cells wait; for threads of neither side an estimate. Relaxed: no data are read
  // because of it.
  uint64_t lag() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);  // first: it never passes `tail`
    return tail_.load(std::memory_order_relaxed) - head;
  }

  // Called by the consumer: discards all waiting cells.
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
