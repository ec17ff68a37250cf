// SPDX-License-Identifier: BSD-3-Clause
// line.h - what the members of a team write for each other, in the memory that they share.
//
//   a member's part:  | done | line 0 | line 1 | ... | line 15 | buffers |   cache lines of its own
//                              └ collectives 0, 16, 32, ...
//
// Only the member stores in its part; all others load. Each line may have a buffer in the space
// heap; the last member that closes the team frees them.
//
//   line   free -> posted   the member, as it begins collective n: `number` becomes n + 1, last.
//                           Line n % 16 is free once every member's `done` is above n - 16. (Who
//                           has nothing to say to anybody writes none.)
//   done   n -> n + 1       the member, when it has left collective n and all before: it does not
//                           touch any memory of others for them any more
//
// What a line says:
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

#include "nagaya/coll.h"

namespace nagaya::coll {

// Where a member's buffers are.
struct Given {
  nagaya_blocks send;
  std::byte* receive;
};

enum class Form : uint32_t { kInline, kBuffered, kDirect };

struct alignas(64) Line {
  static constexpr size_t kInlineMaxBytes = 40;

  std::atomic<uint64_t> number;  // of the collective, + 1. Release after the rest
  Form form;
  uint32_t bytes;  // kInline, kBuffered
  union {
    std::byte body[kInlineMaxBytes];
    const std::byte* buffer;
    const Given* direct;
  };

  const std::byte* data() const { return form == Form::kInline ? body : buffer; }
};

struct Part {
  alignas(64) std::atomic<uint64_t> done;
  Line lines[NAGAYA_COLL_AHEAD];
  std::byte* buffers[NAGAYA_COLL_AHEAD];  // by line; nullptr: none yet
};

}  // namespace nagaya::coll
