// SPDX-License-Identifier: BSD-3-Clause
// channel_end.h - an end's description of its memory, for the other end of a channel (channel.h).
// It arrives in a message, and names the places that the message's receiver writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "match/envelope.h"
#include "nagaya/llcl.h"

namespace nagaya::array {

inline nagaya_remote with_offset(nagaya_remote place, uint64_t bytes) {
  place.offset += bytes;
  return place;
}

struct ChannelEnd {
  nagaya_remote words;    // the `arrived` words of both sides; or `consumed`
  nagaya_remote landing;  // of side 0
  uint64_t stride;        // from the landing of side 0 to that of side 1            [bytes]

  nagaya_remote word_of(size_t side) const { return with_offset(words, side * sizeof(uint64_t)); }
  nagaya_remote landing_of(size_t side) const { return with_offset(landing, side * stride); }

  // Whether `process`, which has sent this end, may have it: all places are of that process, the
  // landings do not overlap, and no offset wraps. `bytes`: size of the box; 0: no landings. The
  // node of `process` checks at each write whether that process has memory there.
  bool is_of(nagaya_process process, size_t bytes) const {
    const auto is_there = [process](const nagaya_remote& place, uint64_t end) {
      return match::is_same(place.process, process) && place.offset <= UINT64_MAX - end;
    };
    if (!is_there(words, 2 * sizeof(uint64_t))) return false;
    return bytes == 0 ||
           (stride >= bytes && stride <= UINT64_MAX / 2 && is_there(landing, 2 * stride));
  }
};

}  // namespace nagaya::array
