// SPDX-License-Identifier: BSD-3-Clause
// rank_table.h - level 1 of the two tables from a rank to (node, task) (docs/processes.md): the
// ranks of a set of processes, as positions of the node table. Read-only. The tasks of a node share
// one table; sets with equal content share it, too.
//
// Regular: runs. position = run.position + (rank - run.first) * run.stride
//
//   | RankTable | run 0 | run 1 | ... | end: {size} | lowest positions, ascending | runs: u16 |
//
//   rank -> position   search the last run with first <= rank, multiply
//   position -> rank   search the last run with lowest position <= position, divide. If the runs
//                      are interleaved (even positions, then odd ones), try those before it, too.
//
// Irregular: packed. Blocks of 2^shift ranks stay together as blocks of 2^shift positions.
//
//   | RankTable | rank block -> position block - lowest, position_bits each | slots |
//
//   rank -> position   one read
//   position -> rank   a slot of rank_bits holds a rank block + 1, or 0: nobody. Dense: the slot
//                      of the position block itself. Hashed: the search begins at a hash of the
//                      position block, and ends at the slot whose rank block lies there, or at an
//                      empty slot.
//
// docs/processes.md says when each form is used, and its cost.
#pragma once

#include <cerrno>
#include <cstdint>

#include "processes/node_table.h"
#include "processes/packed.h"
#include "processes/search.h"
#include "processes/shared_table.h"

namespace nagaya::processes {

// In memory each run is followed by the next one, or by the end mark: `this[1].first` is the first
// rank after this run.
struct Run {
  uint32_t first;  // rank
  uint32_t position;
  int32_t stride;  // of positions, not 0

  uint32_t length() const { return this[1].first - first; }
  int64_t position_after(uint32_t steps) const { return position + int64_t{stride} * steps; }
  int64_t lowest() const { return stride < 0 ? position_after(length() - 1) : position; }
  int64_t highest() const { return stride < 0 ? position : position_after(length() - 1); }
  // Returns how many ranks after the run's first one position `known` comes; -1: the run does not
  // contain it.
  int64_t ranks_to(uint32_t known) const {
    const auto distance = static_cast<int32_t>(known - position);  // both are below 2^31
    int32_t steps = distance;
    if (stride != 1) {
      steps = distance / stride;
      if (steps * stride != distance) return -1;
    }
    return steps >= 0 && static_cast<uint32_t>(steps) < length() ? steps : -1;
  }
};

struct RankTable {
  static constexpr auto kKind = SharedTable::Kind::kRanks;

  SharedTable head;
  uint32_t size;         // ranks, below 2^31
  uint32_t run_count;    // 0: packed
  uint32_t interleaved;  // runs: 0 or 1
  // Packed:
  uint32_t lowest;  // position block
  uint32_t span;    // position blocks from the lowest to the highest
  uint32_t slots;   // equal to `span` when dense
  uint8_t shift;
  uint8_t position_bits;
  uint8_t rank_bits;
  uint8_t hashed;
  uint32_t reserved;

  // Returns the position, or -EINVAL: no such rank.
  int64_t position_of(int64_t rank) const {
    if (static_cast<uint64_t>(rank) >= size) return -EINVAL;
    const auto known = static_cast<uint32_t>(rank);
    if (run_count == 0)
      return int64_t{lowest + position_block(known >> shift)} << shift | (known & block_mask());
    const Run& run = run_of(known);
    return run.position_after(known - run.first);
  }

  // Returns the rank, or -ESRCH: no rank is there.
  int64_t rank_at(int64_t position) const {
    return run_count == 0 ? rank_in_slots(position) : rank_in_runs(position);
  }

  // ---- the parts, for those who build and copy tables ----

  const Run* runs() const { return reinterpret_cast<const Run*>(this + 1); }
  const Run& run_of(uint32_t rank) const {
    return runs()[last_at_or_below(run_count, rank,
                                   [this](uint32_t n) { return runs()[n].first; })];
  }
  const uint32_t* lowest_positions() const {
    return reinterpret_cast<const uint32_t*>(runs() + run_count + 1);
  }
  const uint16_t* runs_by_position() const {
    return reinterpret_cast<const uint16_t*>(lowest_positions() + run_count);
  }

  uint32_t block_mask() const { return (1u << shift) - 1; }
  uint32_t blocks() const { return (size + block_mask()) >> shift; }
  const std::byte* position_blocks() const { return reinterpret_cast<const std::byte*>(this + 1); }
  const std::byte* rank_blocks() const {
    return position_blocks() + packed_bytes(position_bits, blocks());
  }
  // Returns the position block, counted from `lowest`.
  uint32_t position_block(uint32_t rank_block) const {
    return packed_get(position_blocks(), position_bits, rank_block);
  }
  uint32_t slot_of(uint32_t position_block) const {
    return hashed != 0 ? static_cast<uint32_t>(uint64_t{position_block * 0x9e3779b1u} * slots >> 32)
                       : position_block;
  }

 private:
  int64_t rank_in_slots(int64_t position) const {
    const uint64_t block = (static_cast<uint64_t>(position) >> shift) - lowest;
    if (position < 0 || block >= span) return -ESRCH;
    const auto wanted = static_cast<uint32_t>(block);
    for (uint32_t slot = slot_of(wanted);; slot = slot + 1 == slots ? 0 : slot + 1) {
      const uint32_t entry = packed_get(rank_blocks(), rank_bits, slot);
      if (entry == 0) return -ESRCH;
      if (hashed != 0 && position_block(entry - 1) != wanted) continue;
      const int64_t rank = int64_t{entry - 1} << shift | (position & block_mask());
      return rank < size ? rank : -ESRCH;  // the last block may be incomplete
    }
  }

  int64_t rank_in_runs(int64_t position) const {
    if (static_cast<uint64_t>(position) > INT32_MAX) return -ESRCH;
    const auto known = static_cast<uint32_t>(position);
    uint32_t at =
        last_at_or_below(run_count, known, [this](uint32_t n) { return lowest_positions()[n]; });
    for (;; --at) {
      const Run& run = runs()[runs_by_position()[at]];
      const int64_t ranks = run.ranks_to(known);
      if (ranks >= 0) return run.first + ranks;
      if (interleaved == 0 || at == 0) return -ESRCH;
    }
  }
};

// A task's pointers to both tables of a communicator, in private memory.
struct Translation {
  const NodeTable* nodes;
  const RankTable* ranks;

  // Returns 0, or -EINVAL: no such rank.
  int process_of(int64_t rank, Process& out) const {
    const int64_t position = ranks->position_of(rank);
    return position < 0 ? -EINVAL : nodes->process_at(position, out);
  }
  // Returns the rank, -ESRCH: not in this communicator, or -EINVAL: not in this job.
  int64_t rank_of(Process process) const {
    const int64_t position = nodes->position_of(process);
    return position < 0 ? position : ranks->rank_at(position);
  }
};

}  // namespace nagaya::processes
