// SPDX-License-Identifier: BSD-3-Clause
// requester_pieces.h - a command's Pieces, or an accumulate's elements, cut into records.
//
//   Pieces, in the task's memory:   | 3 blocks of 5000 | 1000 blocks of 8        | ...
//   Portions, one record each:      | 1 | 1 |1, 1 part | part, 600 of 8 | 400 of 8, ...
//                                                      ▲ a Cursor
//
// A strided piece is one entry of the list, whatever its count. The task may change its Pieces at
// any time, or have written nonsense: each is read once per portion, checked, and only then used.
// So are the runs of an accumulate, whose local sides need no list.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "delegatee/batch_strided.h"
#include "layout/pieces.h"
#include "llcl/board/command.h"
#include "llcl/board/target_elements.h"
#include "reduction/reductions.h"

namespace nagaya::delegatee {

using Cursor = layout::PieceCursor;

// `accumulate`: a command whose type is an enumerator.
inline const reduction::Elements& elements_of(const llcl::Command& accumulate) {
  return reduction::elements_of(static_cast<nagaya_element_type>(accumulate.data.elements.type));
}
inline llcl::TargetElements target_of(const llcl::Command& accumulate) {
  const llcl::Command::Elements& what = accumulate.data.elements;
  const uint64_t extent = elements_of(accumulate).extent;
  return {reinterpret_cast<const nagaya_runs*>(what.runs), accumulate.offset, extent,
          what.count * extent};
}

// The part of a command's pieces or elements that one record carries.
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
      if (!layout::is_sound(piece, command.offset, at)) return -EINVAL;
      const layout::PiecePart part = layout::cut_part(piece, command.offset, room(), at);
      chunks_.push_back({{part.offset, static_cast<uint32_t>(part.bytes),
                          static_cast<uint32_t>(part.count), piece.remote_stride},
                         part.local,
                         piece.local_stride});
      bytes_ += part.bytes * part.count;
    }
    return 0;
  }

  // Becomes the portion of an accumulate that begins at `at`, behind `done` bytes of its elements,
  // and moves `at` behind it. Returns 0, -EINVAL: a run is wrong.
  int cut_elements(const llcl::Command& accumulate, uint64_t done, Cursor& at) {
    chunks_.clear();
    bytes_ = 0;
    const llcl::TargetElements target = target_of(accumulate);
    for (uint64_t left = target.bytes - done; left != 0 && room() >= target.extent;) {
      llcl::TargetElements::Part part;
      const int error = target.cut(left, room(), at, &part);
      if (error != 0) return error;
      chunks_.push_back({{part.offset, static_cast<uint32_t>(part.block_bytes),
                          static_cast<uint32_t>(part.count), part.stride},
                         nullptr,
                         0});
      bytes_ += part.bytes();
      left -= part.bytes();
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

  const size_t max_bytes_;
  std::vector<Chunk> chunks_;
  size_t bytes_ = 0;
};

}  // namespace nagaya::delegatee
