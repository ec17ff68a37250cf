// SPDX-License-Identifier: BSD-3-Clause
// cell.h - what receivers write into a sender's matching area, and senders into a receiver's flags.
//
//   cell    free -> writing -> posted   the receiver: takes it, fills it in, release
//           posted -> copying           the sender, whose data go there now
//           posted -> free              the receiver, which takes the message back
//           copying -> free             the sender, before it raises the flag
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

enum : uint64_t { kFree = 0, kWriting = 1, kPosted = 2, kCopying = 3 };

struct Cell {
  std::atomic<uint64_t> state;  // | receiver's rank | one of these, 2 bits |
  std::byte* to;
  size_t capacity;

  static uint64_t state_of(uint64_t what, uint32_t receiver) {
    return uint64_t{receiver} << 2 | what;
  }
};
static_assert(sizeof(Cell) <= sizeof(nagaya_area_cell));

}  // namespace nagaya::area
