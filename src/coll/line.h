// SPDX-License-Identifier: BSD-3-Clause
// line.h - the lines that the members of a team write for each other, in the memory that they
// share.
//
//   MemberArea of a member:       | done | line 0 | ... | line 7  | buffers |   own cache lines
//                                          └ collectives 0, 8, ... 56
//   its DeepMemberArea:                  | line 0 | ... | line 63 | buffers |
//                                          └ collectives 64, 128, ...
//
// Only the member stores in its areas; all others load. Each line may have a buffer in the space
// heap; the last member that closes the team frees all buffers. The second area is made at
// collective 64: a team that does only a few collectives keeps little memory.
//
//   line   free -> posted   by the member as it begins collective n: it stores `number` = n + 1
//                           last. In a ring of d lines the line of n is free once every member's
//                           `done` is above n - d. (A member that has no data for others posts
//                           no line.)
//   level  0 -> 1 -> ...    by the member, in its posted line: it has added that many further parts
//                           to the line's data
//   done   n -> n + 1       by the member when it has left collective n and all before: it does not
//                           touch other members' memory for these any more
//
// The content of a line, by its form:
//
//   kInline     the data, in the line                      the member may reuse its buffers at once
//   kBuffered   the address of a copy of the data          the member may reuse its buffers at once
//   kDirect     the address of its DirectBuffers           others use the member's buffers until
//                                                          their `done` has passed the collective
//
// A member that has a different block for each member (scatter, alltoall) writes a table of the
// blocks' ends [bytes from the data's beginning], then the blocks:
//
//   | end of block 0, 1, ... (uint32_t) | block 0 | block 1 | ...
//
// Death of a member in collective n: its `done` stays at n, so others that need its data or its
// `done` wait until its job has ended (law 4).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/detach.h"
#include "mailbox/machine.h"
#include "nagaya/coll.h"

namespace nagaya::coll {

// The buffers of a member that others access directly (kDirect).
struct DirectBuffers {
  nagaya_blocks send;
  std::byte* receive;            // reductions: the result. It has the runs that `send` has
  Detachable* detachable;        // nullptr: the memory stays until all have read it
  std::atomic<uint32_t>* taken;  // `gather`: 1 if the sender or the root copies the sender's block
};

enum class Form : uint32_t { kInline, kBuffered, kDirect };

struct alignas(mailbox::kLineBytes) Line {
  static constexpr size_t kInlineMaxBytes = 40;

  // First member, so that elements in `body` begin at a multiple of 16, as in malloc's memory.
  union {
    std::byte body[kInlineMaxBytes];
    const std::byte* buffer;
    const DirectBuffers* direct;
  };
  std::atomic<uint64_t> number;  // collective's number + 1. Stored last (release)
  Form form;
  uint32_t bytes;               // kInline, kBuffered; kDirect of the root of `gather`: each block
  std::atomic<uint32_t> level;  // 0 when `number` is stored. Raised (release) after data were added

  const std::byte* data() const { return form == Form::kInline ? body : buffer; }
  std::byte* own_data() { return const_cast<std::byte*>(data()); }
};

template <size_t depth>
struct Ring {
  Line lines[depth];
  std::byte* buffers[depth];  // one per line; nullptr: not allocated yet
};

struct MemberArea {
  static constexpr uint64_t kDepth = 8;

  alignas(mailbox::kLineBytes) std::atomic<uint64_t> done;
  Ring<kDepth> ring;
};
// The depth limits how many collectives a member can be ahead of the others, and so decides how
// often an oversubscribed processor switches between tasks: bcast of 8 B in a loop, 16 ranks on 2
// processors (November 2026): 16 lines 1.4 us, 32 1.05, 63 0.7.
struct DeepMemberArea {
  static constexpr uint64_t kDepth = NAGAYA_COLL_AHEAD, kFirstCollective = 64;

  Ring<kDepth> ring;
};

}  // namespace nagaya::coll
