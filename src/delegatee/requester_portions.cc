// SPDX-License-Identifier: BSD-3-Clause
// The requester's commands that are sent portion by portion, each a record with its own answer.
#include <cerrno>

#include "delegatee/requester.h"

namespace nagaya::delegatee {

using llcl::Command;
using llcl::Op;

// Sends the next portion; then the other commands have their turn. After an error nothing more is
// sent. False: no credit, or no room.
bool Requester::send_pieces(TargetNode& target) {
  const uint32_t index = target.pending.front();
  Slot& slot = slots_[index];
  Cursor next = slot.at;
  if (slot.status == 0) slot.status = portion_.cut(slot.command, next);
  if (slot.status == 0 && portion_.bytes() != 0 && !send_portion(target, index)) return false;
  slot.at = next;
  target.pending.pop(slots_);
  if (slot.status == 0 && slot.at.piece < slot.command.data.pieces.count) {
    target.pending.push(slots_, index);
    return true;
  }
  slot.state = State::kSent;
  if (slot.sent_bytes == slot.answered_bytes) finish(index, slot.status);
  return true;
}

bool Requester::send_portion(TargetNode& target, uint32_t index) {
  Slot& slot = slots_[index];
  const bool is_put = slot.command.op == Op::kPutPieces;
  Header header = next_record(index);
  header.argument = static_cast<uint32_t>(portion_.entries());
  const size_t blocks_bytes = is_put ? portion_.bytes() : 0;
  header.bytes = static_cast<uint32_t>(portion_.entries_bytes() + blocks_bytes);
  leave_open(header, blocks_bytes);
  std::byte* const payload = append(target, slot.command.node, header);
  if (payload == nullptr) return false;
  std::byte* const blocks = portion_.write_entries(payload);
  if (is_put) portion_.gather(blocks);
  const auto bytes = static_cast<uint32_t>(portion_.bytes());
  target.portions.push({index, bytes, record_bytes(header.bytes), slot.at});
  slot.sent_bytes += bytes;
  return true;
}

// Handles the answer to the node's oldest portion. False: it answers something else.
bool Requester::answered_portion(uint32_t index, int status, std::span<const std::byte> payload) {
  Slot& slot = slots_[index];
  TargetNode& target = targets_[slot.command.node];
  if (target.portions.empty() || target.portions.front().index != index) return false;
  const SentPortion sent = target.portions.front();
  const bool has_blocks = slot.command.op == Op::kGetPieces && status == 0;
  if (payload.size() != (has_blocks ? sent.bytes : 0)) return false;
  target.portions.pop();
  --target.sent;
  target.sent_bytes -= sent.record_bytes;
  slot.answered_bytes += sent.bytes;
  if (has_blocks && !slot.is_orphan) status = scatter(slot.command, sent.at, payload);
  if (slot.status == 0) slot.status = status;
  if (slot.state == State::kSent && slot.sent_bytes == slot.answered_bytes)
    finish(index, slot.status);
  return true;
}

// Copies the answered blocks into the task's memory. Returns 0; -EINVAL: the task has changed its
// pieces meanwhile.
int Requester::scatter(const Command& command, Cursor at, std::span<const std::byte> blocks) {
  if (portion_.cut(command, at) != 0 || portion_.bytes() != blocks.size()) return -EINVAL;
  portion_.scatter(blocks.data());
  return 0;
}

}  // namespace nagaya::delegatee
