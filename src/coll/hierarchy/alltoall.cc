// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "coll/hierarchy/hierarchy.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: its members' blocks for all ranks, member by member; later, after sort(),
// all ranks' blocks for its members, member by member. `other_buffer`, both halves node by node:
//
//   | blocks to send | blocks received |

size_t block_bytes(const Schedule& schedule) {
  return layout::block_of(schedule.what().send, 0).bytes;
}
size_t row_bytes(const Schedule& schedule) {
  return schedule.size() * block_bytes(schedule);
}
size_t all_bytes(const Schedule& schedule) {
  return schedule.own_ranks().size() * row_bytes(schedule);
}

// Returns the member's blocks for all ranks in contiguous memory: the caller's, or a copy.
std::byte* row_of(Schedule& schedule) {
  const nagaya_blocks& send = schedule.what().send;
  const size_t bytes = block_bytes(schedule);
  std::byte* const begin = layout::block_of(send, 0).data;
  bool is_a_row = true;
  for (uint32_t rank = 1; rank < schedule.size() && is_a_row; ++rank)
    is_a_row = layout::block_of(send, rank).data == begin + rank * bytes;
  if (is_a_row) return begin;
  std::byte* const row = schedule.new_scratch(row_bytes(schedule));
  for (uint32_t rank = 0; rank < schedule.size() && bytes != 0; ++rank)
    std::memcpy(row + rank * bytes, layout::block_of(send, rank).data, bytes);
  return row;
}

void first(Schedule& schedule) {
  std::byte* const row = row_of(schedule);
  const size_t bytes = row_bytes(schedule);
  if (schedule.is_leader())
    schedule.buffer = schedule.is_alone_on_node() ? row : schedule.new_scratch(all_bytes(schedule));
  if (schedule.is_alone_on_node()) return;
  nagaya_collective in = schedule.new_node_collective(NAGAYA_GATHER);
  in.send = layout::equal_blocks(row, bytes);
  if (schedule.is_leader()) in.receive = layout::equal_blocks(schedule.buffer, bytes);
  schedule.fan_in(in);
}

// Size of all blocks from the own node's members to those of `node`; as many come back.  [bytes]
size_t bytes_for_node(const Schedule& schedule, uint32_t node) {
  return schedule.own_ranks().size() * schedule.nodes().ranks_of(node).size() *
         block_bytes(schedule);
}
// Offset of the blocks for (or from) `node` in either half of `other_buffer`.            [bytes]
size_t offset_for_node(const Schedule& schedule, uint32_t node) {
  return schedule.own_ranks().size() * schedule.nodes().begin_of(node) * block_bytes(schedule);
}

void exchange(Schedule& schedule) {
  const processes::RanksByNode& nodes = schedule.nodes();
  const size_t bytes = block_bytes(schedule), row = row_bytes(schedule);
  schedule.other_buffer = schedule.new_scratch(2 * all_bytes(schedule));
  std::byte* const incoming = schedule.other_buffer + all_bytes(schedule);
  std::byte* out = schedule.other_buffer;
  for (uint32_t node = 0; node < nodes.nodes(); ++node)
    for (size_t member = 0; member < schedule.own_ranks().size(); ++member)
      for (const uint32_t rank : nodes.ranks_of(node)) {
        if (bytes != 0) std::memcpy(out, schedule.buffer + member * row + rank * bytes, bytes);
        out += bytes;
      }
  schedule.for_each_other_node([&](uint32_t to, uint32_t from) {
    schedule.send(schedule.leader_of(to), schedule.other_buffer + offset_for_node(schedule, to),
                  bytes_for_node(schedule, to));
    schedule.receive(schedule.leader_of(from), incoming + offset_for_node(schedule, from),
                     bytes_for_node(schedule, from));
  });
}

// Makes a row for each member: all ranks' blocks for it, by rank. Blocks between members of this
// node come from the blocks to send, because no message has carried them.
void sort(Schedule& schedule) {
  const processes::RanksByNode& nodes = schedule.nodes();
  const size_t bytes = block_bytes(schedule), row = row_bytes(schedule);
  std::byte* const rows = schedule.new_scratch(all_bytes(schedule));
  for (uint32_t node = 0; node < nodes.nodes(); ++node) {
    const bool is_own = node == schedule.node();
    const std::byte* in = schedule.other_buffer + (is_own ? 0 : all_bytes(schedule)) +
                          offset_for_node(schedule, node);
    for (const uint32_t rank : nodes.ranks_of(node))
      for (size_t member = 0; member < schedule.own_ranks().size(); ++member) {
        if (bytes != 0) std::memcpy(rows + member * row + rank * bytes, in, bytes);
        in += bytes;
      }
  }
  schedule.buffer = rows;
}

bool between(Schedule& schedule, uint32_t round) {
  if (!schedule.is_leader()) return false;
  if (round == 0)
    exchange(schedule);
  else
    sort(schedule);
  return round == 0;
}

void deliver_row(void* context, uint32_t, const void* data, size_t) {
  auto* const schedule = static_cast<Schedule*>(context);
  const size_t bytes = block_bytes(*schedule);
  const auto* const row = static_cast<const std::byte*>(data);
  for (uint32_t rank = 0; rank < schedule->size(); ++rank)
    schedule->deliver(rank, row + rank * bytes, bytes);
}

void last(Schedule& schedule) {
  schedule.fan_out_to(deliver_row, NAGAYA_SCATTER, row_bytes(schedule));
}

void end(Schedule& schedule) {
  if (schedule.is_alone_on_node()) deliver_row(&schedule, 0, schedule.buffer, 0);
}

}  // namespace

const MultiNodeAlgorithm kAlltoall{.name = "by leaders",
                                   .fans_out = true,
                                   .first = first,
                                   .between = between,
                                   .last = last,
                                   .end = end};

}  // namespace nagaya::coll::hierarchy
