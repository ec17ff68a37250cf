// SPDX-License-Identifier: BSD-3-Clause
// tuning.h - the measured sizes at which one algorithm becomes faster than another. All processes
// of a job must have the same table, because most sizes choose an algorithm: bootstrap compares the
// digests. So must all tasks of a space: a job that another one has spawned into its space, or that
// joins it later, has the same table as the first.
//
// NAGAYA_TUNING names a table that `nagaya bench tune` has written for a machine; without it the
// defaults hold. A table is lines of a name and a number, and comments from `#` to the end of the
// line.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nagaya::llcl {

enum class Tuned : uint8_t {
  kPostedMaxBytes,         // up to this size a member posts a copy of its data in a collective
  kCombinedMaxBytes,       // up to this size every member combines all elements; above, one slice
  kCrowdedReduceMaxBytes,  // if members share processors: up to this size the root of a reduce
                           // combines all elements
  kTileBytes,  // bytes combined of each buffer at a time: with the result in the first cache
  kExchangedMaxBytes,  // up to this size leaders of nodes exchange all elements; above, slices
  kAlltoallByLeadersMaxBytes,     // up to this block size a leader sends the blocks of its node
  kLargeTeamMinMembers,           // from so many members in a node on, none polls all others ...
  kLargeTeamMembersPerProcessor,  // ... if at most so many members share a processor
  kCount
};

class Tuning {
 public:
  // Returns the table of this process, which the first call reads. Every call throws base::Error
  // -EINVAL if the table cannot be read or is malformed; the text names file, line and cure.
  static const Tuning& own();

  // Parses a table. `name`: the table's name for error messages. Throws as own().
  static Tuning parse(std::string_view text, std::string_view name);

  size_t operator[](Tuned size) const { return sizes_[static_cast<size_t>(size)]; }
  // Returns a hash of the table: equal for equal tables, for others only by chance. Not 0.
  uint64_t digest() const;
  // Returns this table if it equals the table of the space's tasks. The first task stores its
  // digest in `known` (0 before), where it stays as long as the space. Throws base::Error -EINVAL
  // if the digests differ.
  const Tuning& agreed(std::atomic<uint64_t>& known) const;

 private:
  Tuning();

  std::array<size_t, static_cast<size_t>(Tuned::kCount)> sizes_;
};

[[noreturn]] void throw_different_tunings();

}  // namespace nagaya::llcl
