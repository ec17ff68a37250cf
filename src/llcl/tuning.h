// SPDX-License-Identifier: BSD-3-Clause
// tuning.h - the sizes at which one way becomes faster than another, as measured. Most of them
// choose an algorithm, so all processes of a job must have the same: bootstrap compares their
// digests. In a node all tasks of a space must: a job that another one has spawned into its space,
// or that comes there later, has the same table as the first.
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
  kPosted,     // a collective's data are posted as a copy up to this size
  kCombined,   // elements are combined by every member up to this size; above, by slices
  kTile,       // of each buffer at a time: with the result it stays in the first cache
  kExchanged,  // leaders of nodes send each other all elements up to this size; above, slices
  kAlltoallByLeaders,  // a leader sends blocks of its node's ranks up to this size of each
  kLargeTeam,          // from so many members of a node on nobody looks at all the others
  kLargeTeamLoad,      // ... if so many or fewer share a processor
  kCount
};

class Tuning {
 public:
  // Of this process. Reads the table at the first call. Throws base::Error -EINVAL, each time: the
  // table cannot be read, or is malformed; the text names file, line and cure.
  static const Tuning& own();

  // Throws as own(); `name`: of the table, for people.
  static Tuning parse(std::string_view text, std::string_view name);

  size_t operator[](Tuned size) const { return sizes_[static_cast<size_t>(size)]; }
  // The same for equal tables, and for no others but by chance. Not 0.
  uint64_t digest() const;
  // This table, if it is that of all tasks of the space, who leave its digest in `known` for as
  // long as the space exists (0: nobody has come). Throws base::Error -EINVAL: it is not.
  const Tuning& agreed(std::atomic<uint64_t>& known) const;

 private:
  Tuning();

  std::array<size_t, static_cast<size_t>(Tuned::kCount)> sizes_;
};

[[noreturn]] void throw_different_tunings();

}  // namespace nagaya::llcl
