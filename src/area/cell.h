// SPDX-License-Identifier: BSD-3-Clause
// cell.h - the cells of a sender's matching area, written by receivers, and a receiver's flags,
// written by senders.
//
//   cell    free -> writing -> posted     the receiver: takes it, fills it in, release
//           free -> writing -> prepared   a receiver that prepares a receive: takes the cell,
//                                         fills it in, keeps it
//           prepared -> posted            that receiver starts the receive: one store, the doorbell
//           prepared -> free              that receiver gives the cell back
//           posted -> copying             the sender, which copies its data now
//           posted -> idle                the receiver, which cancels the receive
//           copying -> idle               the sender, before it raises the flag
//           (idle: free, or prepared, as the receiver has written)
//   flag    0 -> bytes + 1              the sender, release: the data are there
//           bytes + 1 -> 0              the receiver, which has seen it
//
// Cells and flags lie in their processes' own memory, which all tasks of the space can store into.
// Death: a cell stays as it is; the job ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nagaya/area.h"

namespace nagaya::area {

enum : uint64_t { kFree = 0, kWriting = 1, kPosted = 2, kCopying = 3, kPrepared = 4 };

struct Cell {
  std::atomic<uint64_t> state;  // | receiver's rank | one of these, 3 bits |
  std::byte* to;
  size_t capacity;
  uint64_t idle;  // `state` after the message: free, or prepared

  static uint64_t state_of(uint64_t phase, uint32_t receiver) {
    return uint64_t{receiver} << 3 | phase;
  }
  static bool is_posted(uint64_t state) { return (state & 7) == kPosted; }
};
static_assert(sizeof(Cell) <= sizeof(nagaya_area_cell));

}  // namespace nagaya::area
