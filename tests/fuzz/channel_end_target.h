// SPDX-License-Identifier: BSD-3-Clause
// channel_end_target.h - a process of another node describes the memory to which boxes are to be
// written, in any bytes. Places that are accepted are that process's own, and two exchanges under
// way do not meet there.
//
//   input: | process, 8 | bytes of the box, 8 | the description
#pragma once

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "array/channel_end.h"

namespace nagaya::fuzz {

inline void accept_channel_end(const uint8_t* data, size_t bytes) {
  struct {
    nagaya_process process;
    uint64_t box_bytes;
    array::ChannelEnd end;
  } said;
  if (bytes != sizeof said) return;
  std::memcpy(&said, data, sizeof said);
  if (!said.end.is_of(said.process, said.box_bytes)) return;
  const auto must = [](bool holds) {
    if (!holds) std::abort();
  };
  const auto is_one_behind_the_other = [&](const nagaya_remote& first, const nagaya_remote& second,
                                           uint64_t each) {
    for (const auto* const place : {&first, &second}) {
      must(place->process.node == said.process.node && place->process.task == said.process.task);
      must(place->offset <= UINT64_MAX - each);
    }
    must(first.region == second.region && second.offset >= first.offset + each);
  };
  is_one_behind_the_other(said.end.word_of(0), said.end.word_of(1), sizeof(uint64_t));
  if (said.box_bytes != 0)
    is_one_behind_the_other(said.end.landing_of(0), said.end.landing_of(1), said.box_bytes);
}

}  // namespace nagaya::fuzz
