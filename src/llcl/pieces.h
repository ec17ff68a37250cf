// SPDX-License-Identifier: BSD-3-Clause
// pieces.h - computes the bytes that a Piece touches, and copies it in a process that can reach
// both sides.
//
//   first           + stride        + 2 * stride
//   | block | ...   | block | ...   | block |      count 3
//   |<--------------- span ---------------->|
//
// With a negative stride the last block has the lowest address.
#pragma once

#include <cstddef>

#include "layout/runs.h"
#include "llcl/command.h"

namespace nagaya::llcl {

struct Span {
  uint64_t first, bytes;  // from the lowest byte to the highest
};

// Computes the span of the side of `piece` whose first block is at `first`. False: the span exceeds
// 64 bits. A piece without a byte touches nothing, wherever it is.
inline bool span_of(const Piece& piece, uint64_t first, int64_t stride, Span* out) {
  *out = {first, 0};
  if (piece.count == 0 || piece.block_bytes == 0) return true;
  int64_t reach = 0;  // from the first block to the last
  uint64_t last = 0, end = 0;
  if (__builtin_mul_overflow(piece.count - 1, stride, &reach) ||
      __builtin_add_overflow(first, reach, &last))
    return false;
  const uint64_t highest = reach < 0 ? first : last;
  if (__builtin_add_overflow(highest, piece.block_bytes, &end)) return false;
  out->first = reach < 0 ? last : first;
  out->bytes = end - out->first;
  return true;
}

inline bool local_span(const Piece& piece, Span* out) {
  return span_of(piece, piece.local, piece.local_stride, out);
}

// Computes the span of `piece` in the region; `offset`: of the request, is added to the piece's.
inline bool remote_span(const Piece& piece, uint64_t offset, Span* out) {
  uint64_t first = 0;
  return !__builtin_add_overflow(offset, piece.offset, &first) &&
         span_of(piece, first, piece.remote_stride, out);
}

// Copies a piece between local memory and `region`, to which the piece's offset is added. `op`:
// kGetPieces or kPutPieces. The caller has checked both spans.
inline void copy_piece(Op op, const Piece& piece, std::byte* region) {
  if (piece.block_bytes == 0) return;
  const layout::Walk::Parts here{reinterpret_cast<std::byte*>(piece.local), piece.local_stride,
                                 piece.count};
  const layout::Walk::Parts there{region + piece.offset, piece.remote_stride, piece.count};
  layout::copy_parts(op == Op::kPutPieces ? there : here, op == Op::kPutPieces ? here : there,
                     piece.count, piece.block_bytes);
}

}  // namespace nagaya::llcl
