// SPDX-License-Identifier: BSD-3-Clause
// moving.h - blocks whose bytes tell their sender, their receiver and their order.
#pragma once

#include "layout/blocks.h"
#include "members.h"

namespace nagaya::coll {

using Bytes = std::vector<std::byte>;

// The bytes that `sender` has for `receiver`: each differs from the next ones.
inline std::byte sent_byte(uint32_t sender, uint32_t receiver, size_t n) {
  return static_cast<std::byte>(sender * 31 + receiver * 7 + n * 13 + n / 256);
}
inline void fill(std::byte* to, size_t bytes, uint32_t sender, uint32_t receiver) {
  for (size_t n = 0; n < bytes; ++n) to[n] = sent_byte(sender, receiver, n);
}
inline bool has(const std::byte* at, size_t bytes, uint32_t sender, uint32_t receiver) {
  for (size_t n = 0; n < bytes; ++n)
    if (at[n] != sent_byte(sender, receiver, n)) return false;
  return true;
}

class Move : public testing::Test {
 protected:
  void begin(Members& members, nagaya_collective_kind kind, uint32_t root) {
    all_.assign(members.size(), {});
    send_.assign(members.size(), {});
    receive_.assign(members.size(), {});
    for (nagaya_collective& what : all_) what.kind = kind, what.root = root;
  }
  // A block for each of `count`, with gaps between them.
  static nagaya_blocks blocks(Bytes& memory, size_t bytes, uint32_t count) {
    memory.assign((bytes + 8) * count, std::byte{0xee});
    nagaya_blocks made = layout::equal_blocks(memory.data(), bytes);
    made.stride += 8;
    return made;
  }
  std::byte* block(Bytes& memory, size_t bytes, uint32_t n) { return &memory[(bytes + 8) * n]; }
  // Returns blocks as blocks() does, but without gaps; `memory` has room for the gaps, too.
  static nagaya_blocks blocks_together(Bytes& memory, size_t bytes, uint32_t count) {
    memory.assign((bytes + 8) * count, std::byte{0xee});
    return layout::equal_blocks(memory.data(), bytes);
  }

  std::vector<nagaya_collective> all_;
  std::vector<Bytes> send_, receive_;
  std::mt19937 random_{1};
};

// Columns of `rows` bytes, and where they begin: that far apart.
inline nagaya_runs columns(Bytes& memory, size_t rows, size_t count, size_t apart) {
  memory.assign(apart * count, std::byte{0xee});
  return {memory.data(), rows, count, static_cast<ptrdiff_t>(apart)};
}
inline nagaya_blocks in_runs(const nagaya_runs& columns) {
  return {nullptr, columns.bytes * columns.count, 0, nullptr, nullptr, &columns, nullptr};
}
inline void fill(const nagaya_runs& columns) {
  for (size_t n = 0; n < columns.count; ++n)
    fill(static_cast<std::byte*>(columns.first) + static_cast<ptrdiff_t>(n) * columns.stride,
         columns.bytes, static_cast<uint32_t>(n), 0);
}
inline void expect_filled(const nagaya_runs& columns) {
  auto* const first = static_cast<std::byte*>(columns.first);
  for (size_t n = 0; n < columns.count; ++n) {
    std::byte* const column = first + static_cast<ptrdiff_t>(n) * columns.stride;
    EXPECT_TRUE(has(column, columns.bytes, static_cast<uint32_t>(n), 0)) << n;
    for (size_t k = columns.bytes; k < static_cast<size_t>(columns.stride); ++k)
      EXPECT_EQ(column[k], std::byte{0xee});
  }
}

}  // namespace nagaya::coll
