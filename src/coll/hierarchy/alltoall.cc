// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"
#include "layout/bytes.h"

namespace nagaya::coll::hierarchy {
namespace {

class Alltoall final : public Schedule {
 public:
  using Schedule::Schedule;

 private:
  void first() override {
    std::byte* const row = own_row();
    if (is_leader()) rows_ = is_alone_on_node() ? row : new_scratch(all_bytes_);
    nagaya_collective in = new_node_collective(NAGAYA_GATHER);
    in.send = layout::equal_blocks(row, row_bytes_);
    if (is_leader()) in.receive = layout::equal_blocks(rows_, row_bytes_);
    fan_in(in);
  }

  // Returns the member's blocks for all ranks in contiguous memory: the caller's, or a copy.
  std::byte* own_row() {
    const nagaya_blocks& send = what().send;
    std::byte* const begin = layout::block_of(send, 0).data();
    bool is_a_row = true;
    for (uint32_t rank = 1; rank < size() && is_a_row; ++rank)
      is_a_row = layout::block_of(send, rank).data() == begin + rank * bytes_;
    if (is_a_row) return begin;
    std::byte* const row = new_scratch(row_bytes_);
    for (uint32_t rank = 0; rank < size() && bytes_ != 0; ++rank)
      layout::copy_bytes(row + rank * bytes_, layout::block_of(send, rank).data(), bytes_);
    return row;
  }

  bool between(uint32_t round) override {
    if (!is_leader()) return false;
    round == 0 ? exchange() : sort();
    return round == 0;
  }

  // Returns the blocks for (or from) the members of `node` in either half of `by_node_`.
  layout::Buffer blocks_of_node(std::byte* half, uint32_t node) const {
    const size_t column_bytes = own_ranks().size() * bytes_;
    return {half + nodes().begin_of(node) * column_bytes,
            nodes().ranks_of(node).size() * column_bytes};
  }

  void exchange() {
    by_node_ = new_scratch(2 * all_bytes_);
    std::byte* out = by_node_;
    for (uint32_t n = 0; n < nodes().nodes(); ++n)
      for (size_t member = 0; member < own_ranks().size(); ++member)
        for (const uint32_t rank : nodes().ranks_of(n)) {
          layout::copy_bytes(out, rows_ + member * row_bytes_ + rank * bytes_, bytes_);
          out += bytes_;
        }
    for_each_other_node([&](uint32_t to, uint32_t from) {
      send(leader_of(to), blocks_of_node(by_node_, to));
      receive(leader_of(from), blocks_of_node(by_node_ + all_bytes_, from));
    });
  }

  // Makes a row for each member: all ranks' blocks for it, by rank. Blocks between members of this
  // node come from the blocks to send, because no message has carried them.
  void sort() {
    std::byte* const rows = new_scratch(all_bytes_);
    for (uint32_t n = 0; n < nodes().nodes(); ++n) {
      const std::byte* in = blocks_of_node(by_node_ + (n == node() ? 0 : all_bytes_), n).data();
      for (const uint32_t rank : nodes().ranks_of(n))
        for (size_t member = 0; member < own_ranks().size(); ++member) {
          layout::copy_bytes(rows + member * row_bytes_ + rank * bytes_, in, bytes_);
          in += bytes_;
        }
    }
    rows_ = rows;
  }

  void last() override { fan_out_data(NAGAYA_SCATTER, rows_, row_bytes_); }

  // Delivers the blocks of a row.
  void store_data(uint32_t, const void* row, size_t) override {
    for (uint32_t rank = 0; rank < size(); ++rank)
      deliver(rank, static_cast<const std::byte*>(row) + rank * bytes_, bytes_);
  }

  void end() override {
    if (is_alone_on_node()) store_data(0, rows_, row_bytes_);
  }

  const size_t bytes_ = layout::block_of(what().send, 0).bytes();  // size of a block
  const size_t row_bytes_ = size() * bytes_;                  // a member's blocks for all ranks
  const size_t all_bytes_ = own_ranks().size() * row_bytes_;  // the rows of all members
  // A leader's: its members' blocks for all ranks, member by member; after sort(), all ranks'
  // blocks for its members, member by member.
  std::byte* rows_ = nullptr;
  // A leader's, each half node by node:  | blocks to send | blocks received |
  std::byte* by_node_ = nullptr;
};

}  // namespace

const MultiNodeAlgorithm kAlltoall{
    .name = "by leaders", .make = Schedule::make<Alltoall>, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
