// SPDX-License-Identifier: BSD-3-Clause
// line.h - the lines that the members of a team write for each other, in the memory that they
// share.
//
//   a member's part:       | done | line 0 | ... | line 7  | buffers |   cache lines of its own
//                                   └ collectives 0, 8, ... 56
//   its part from 64 on:          | line 0 | ... | line 63 | buffers |
//                                   └ collectives 64, 128, ...
//
// Only the member stores in its parts; all others load. Each line may have a buffer in the space
// heap; the last member that closes the team frees them. Many teams do a few collectives only: they
// keep little memory.
//
//   line   free -> posted   the member, as it begins collective n: `number` becomes n + 1, last.
//                           A line of d is free once every member's `done` is above n - d. (A
//                           member with nothing to say to anybody writes none.)
//   level  0 -> 1 -> ...    the same, in a posted line: so much has been added to its data
//   done   n -> n + 1       the member, when it has left collective n and all before: it does not
//                           touch any memory of others for them any more
//
// The content of a line, by its form:
//
//   kInline     the data, in the line                      the member's buffers are its own again
//   kBuffered   where a copy of the data lies              the same
//   kDirect     where the member's Given is                until those who need them are done
//
// The data of a member that has a block for each other are its blocks behind a table of where each
// ends: | end of block 0, 1, ... (uint32_t) | block 0 | block 1 | ...
// Death of a member: nobody's `done` passes its number; its job ends (law 4).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/detach.h"
#include "mailbox/machine.h"
#include "nagaya/coll.h"

namespace nagaya::coll {

// Where a member's buffers are.
struct Given {
  nagaya_blocks send;
  std::byte* receive;      // of a reduction; in runs where `send` is
  Detachable* detachable;  // nullptr: the memory stays until all have read it
};

enum class Form : uint32_t { kInline, kBuffered, kDirect };

struct alignas(mailbox::kLineBytes) Line {
  static constexpr size_t kInlineMaxBytes = 40;

  // First: operations find elements where malloc's may lie, at multiples of 16.
  union {
    std::byte body[kInlineMaxBytes];
    const std::byte* buffer;
    const Given* direct;
  };
  std::atomic<uint64_t> number;  // of the collective, + 1. Release after the rest
  Form form;
  uint32_t bytes;               // kInline, kBuffered
  std::atomic<uint32_t> level;  // 0 before the number is stored. Release after what is added

  const std::byte* data() const { return form == Form::kInline ? body : buffer; }
  std::byte* own_data() { return const_cast<std::byte*>(data()); }
};

template <size_t depth>
struct Ring {
  Line lines[depth];
  std::byte* buffers[depth];  // by line; nullptr: none yet
};

struct Part {
  static constexpr uint64_t kDepth = 8;

  alignas(mailbox::kLineBytes) std::atomic<uint64_t> done;
  Ring<kDepth> ring;
};
// How far a member can be ahead decides how often a crowded node changes between its tasks: bcast
// of 8 B in a loop, 16 ranks on 2 processors (November 2026): 16 lines 1.4 us, 32 1.05, 63 0.7.
struct DeepPart {
  static constexpr uint64_t kDepth = NAGAYA_COLL_AHEAD, kFrom = 64;

  Ring<kDepth> ring;
};

}  // namespace nagaya::coll
