// SPDX-License-Identifier: BSD-3-Clause
// contexts.h - the envelopes of Nagaya's own libraries. No two messages that may be pending at the
// same time have equal ones.
//
//            context                               source               tag
//   MPI      | 00 | MPI's                        | MPI's              | MPI's                   |
//   BLACS    | 010 | grid: 29 bits               | number in the grid | data, or the message's  |
//   areas    | 0110 | number: 28 bits            | rank               | index                   |
//   Python   | 0110 | 28 bits: 2^28 - 3, - 2    | rank               | the user's; a number   |
//   posts    | 0110 | 28 bits, all set           | rank               | 0                       |
//   arrays   | 0111 | name: low 28 bits          | rank               | next 27 bits | side: 4  |
//   teams    | 1 | context: low 30 bits (of 31)  | next 11 | rank: 20 | next 15 | number: 16    |
#pragma once

#include "nagaya/match.h"

namespace nagaya::match {

inline nagaya_envelope area_envelope(uint32_t number, uint32_t source, uint32_t index) {
  return {NAGAYA_CONTEXTS_AREAS | number, static_cast<int32_t>(source),
          static_cast<int32_t>(index)};
}

// A box of `source` that fills a side (array/halo_plan.h) of the receiver's shadow.
inline nagaya_envelope array_envelope(uint64_t name, uint32_t source, uint32_t side) {
  return {NAGAYA_CONTEXTS_ARRAYS | static_cast<uint32_t>(name & 0xfff'ffff),
          static_cast<int32_t>(source),
          static_cast<int32_t>((name >> 28 & 0x7ff'ffff) << 4 | side)};
}

// A message of `source` in collective `number` of a team.
inline nagaya_envelope team_envelope(uint64_t context, uint32_t source, uint64_t number) {
  const auto middle = static_cast<int32_t>(context >> 30 & 0x7ff);
  const auto high = static_cast<int32_t>(context >> 41 & 0x7fff);
  return {NAGAYA_CONTEXTS_COLL | static_cast<uint32_t>(context & 0x3fff'ffff),
          middle << 20 | static_cast<int32_t>(source),
          high << 16 | static_cast<int32_t>(number & 0xffff)};
}

}  // namespace nagaya::match
