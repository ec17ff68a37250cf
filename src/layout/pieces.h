// SPDX-License-Identifier: BSD-3-Clause
// pieces.h - strided blocks on two sides: the bytes that they touch, their copy in a process that
// can reach both sides, and their cut into parts of a limited size.
//
//   first           + stride        + 2 * stride
//   | block | ...   | block | ...   | block |      count 3
//   |<--------------- span ---------------->|
//
// With a negative stride the last block has the lowest address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "layout/runs.h"

namespace nagaya::layout {

// `count` blocks of equal size, with a stride on both sides. One request may move many pieces. The
// members lie as in the public nagaya_llcl_piece.
struct Piece {
  uint64_t local;   // address of the first block
  uint64_t offset;  // of the first block in the region [bytes]
  uint64_t block_bytes;
  uint64_t count;
  int64_t local_stride;  // from one block to the next [bytes]
  int64_t remote_stride;
};

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

// Copies a piece between local memory and `region`, to which the piece's offset is added. `is_put`:
// to the region. The caller has checked both spans.
inline void copy_piece(bool is_put, const Piece& piece, std::byte* region) {
  if (piece.block_bytes == 0) return;
  const Walk::Parts here{reinterpret_cast<std::byte*>(piece.local), piece.local_stride,
                         piece.count};
  const Walk::Parts there{region + piece.offset, piece.remote_stride, piece.count};
  copy_parts(is_put ? there : here, is_put ? here : there, piece.count, piece.block_bytes);
}

// A place in a list of pieces.
struct PieceCursor {
  uint64_t piece, block, byte;  // in the list, in the piece, in the block
};

// As many whole blocks of a piece as there was room for, or a part of one block.
struct PiecePart {
  uint64_t offset, bytes, count;  // of the first block in the region; of each block; of blocks
  std::byte* local;               // the first block
};

// Returns whether the piece has a local address, the cursor lies in it, and its blocks' addresses
// do not overflow.
inline bool is_sound(const Piece& piece, uint64_t offset, const PieceCursor& at) {
  Span local, remote;
  return piece.local != 0 && at.block < piece.count && at.byte < piece.block_bytes &&
         local_span(piece, &local) && remote_span(piece, offset, &remote);
}

// Cuts off the part of a sound piece that begins at the cursor and has at most `room` bytes (not
// 0), and moves the cursor behind it. `offset`: of the request, is added to the piece's.
inline PiecePart cut_part(const Piece& piece, uint64_t offset, uint64_t room, PieceCursor& at) {
  const bool is_partial = at.byte != 0 || piece.block_bytes > room;
  const uint64_t bytes =
      is_partial ? std::min(piece.block_bytes - at.byte, room) : piece.block_bytes;
  const uint64_t count = is_partial ? 1 : std::min(piece.count - at.block, room / bytes);
  // Modulo 2^64, and right because the whole piece is sound.
  const auto place = [&](uint64_t first, int64_t stride) {
    return first + at.block * static_cast<uint64_t>(stride) + at.byte;
  };
  const PiecePart part{place(offset + piece.offset, piece.remote_stride), bytes, count,
                       reinterpret_cast<std::byte*>(place(piece.local, piece.local_stride))};
  at.byte += bytes;
  if (at.byte < piece.block_bytes) return part;
  at.byte = 0;
  at.block += count;
  if (at.block == piece.count) at = {at.piece + 1, 0, 0};
  return part;
}

}  // namespace nagaya::layout
