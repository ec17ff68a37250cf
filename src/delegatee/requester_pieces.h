// SPDX-License-Identifier: BSD-3-Clause
// requester_pieces.h - how a command's Pieces are cut into records.
//
//   Pieces, in the task's memory:   | 3 blocks of 5000 | 1000 blocks of 8        | ...
//   Portions, one record each:      | 1 | 1 |1, 1 part | part, 600 of 8 | 400 of 8, ...
//                                                      ▲ a Cursor
//
// A strided piece is one entry of the list, whatever its count. The task may change its Pieces at
// any time, or have written nonsense: each is read once per portion, checked, and only then used.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "delegatee/batch_strided.h"
#include "llcl/pieces.h"

namespace nagaya::delegatee {

struct Cursor {
  uint64_t piece, block, byte;  // in the command, in the piece, in the block
};

// The part of a command's pieces that one record carries.
class Portion {
 public:
  // `max_bytes` limits entries and blocks together, so that a get and its answer both fit into a
  // record.
  explicit Portion(size_t max_bytes) : max_bytes_(max_bytes) {
    chunks_.reserve(max_bytes / sizeof(Strided));
  }

  // Becomes the portion that begins at `at`, and moves `at` behind it. An empty portion is possible
  // if there are many empty pieces. Cutting the same pieces again gives the same portion.
  // Returns 0, or -EINVAL: a piece has no local address, or its blocks' addresses overflow.
  int cut(const llcl::Command& command, Cursor& at) {
    chunks_.clear();
    bytes_ = 0;
    for (int looks = 0; looks < kLooksMax && at.piece < command.data.pieces.count && room() != 0;
         ++looks) {
      llcl::Piece piece;
      const auto* all = reinterpret_cast<const std::byte*>(command.data.pieces.local);
      std::memcpy(&piece, all + at.piece * sizeof piece, sizeof piece);
      if (piece.block_bytes == 0 || piece.count == 0) {
        at = {at.piece + 1, 0, 0};
        continue;
      }
      if (!is_sound(piece, command.offset, at)) return -EINVAL;
      add(piece, command.offset, at);
    }
    return 0;
  }

  size_t entries() const { return chunks_.size(); }
  size_t entries_bytes() const { return chunks_.size() * sizeof(Strided); }
  size_t bytes() const { return bytes_; }  // of the blocks

  std::byte* write_entries(std::byte* to) const {
    for (const Chunk& chunk : chunks_) {
      std::memcpy(to, &chunk.entry, sizeof chunk.entry);
      to += sizeof chunk.entry;
    }
    return to;
  }
  void gather(std::byte* packed) const {
    for (const Chunk& chunk : chunks_)
      packed = gather_blocks(packed, chunk.local, chunk.entry, chunk.local_stride);
  }
  void scatter(const std::byte* packed) const {
    for (const Chunk& chunk : chunks_)
      packed = scatter_blocks(packed, chunk.local, chunk.entry, chunk.local_stride);
  }

 private:
  static constexpr int kLooksMax = 256;
  struct Chunk {
    Strided entry;
    std::byte* local;
    int64_t local_stride;
  };

  // Bytes that are left for the blocks of one more entry.
  size_t room() const {
    const size_t used = entries_bytes() + bytes_ + sizeof(Strided);
    return used < max_bytes_ ? max_bytes_ - used : 0;
  }

  static bool is_sound(const llcl::Piece& piece, uint64_t offset, const Cursor& at) {
    llcl::Span local, remote;
    return piece.local != 0 && at.block < piece.count && at.byte < piece.block_bytes &&
           local_span(piece, &local) && remote_span(piece, offset, &remote);
  }

  // Adds an entry of as many whole blocks as there is room for, or of a part of one; moves `at`.
  void add(const llcl::Piece& piece, uint64_t offset, Cursor& at) {
    const bool is_part = at.byte != 0 || piece.block_bytes > room();
    const uint64_t bytes =
        is_part ? std::min<uint64_t>(piece.block_bytes - at.byte, room()) : piece.block_bytes;
    const uint64_t count = is_part ? 1 : std::min(piece.count - at.block, room() / bytes);
    // Modulo 2^64, and right because the whole piece was found sound.
    const auto place = [&](uint64_t first, int64_t stride) {
      return first + at.block * static_cast<uint64_t>(stride) + at.byte;
    };
    chunks_.push_back(
        {{place(offset + piece.offset, piece.remote_stride), static_cast<uint32_t>(bytes),
          static_cast<uint32_t>(count), piece.remote_stride},
         reinterpret_cast<std::byte*>(place(piece.local, piece.local_stride)),
         piece.local_stride});
    bytes_ += bytes * count;
    at.byte += bytes;
    if (at.byte < piece.block_bytes) return;
    at.byte = 0;
    at.block += count;
    if (at.block == piece.count) at = {at.piece + 1, 0, 0};
  }

  const size_t max_bytes_;
  std::vector<Chunk> chunks_;
  size_t bytes_ = 0;
};

}  // namespace nagaya::delegatee
