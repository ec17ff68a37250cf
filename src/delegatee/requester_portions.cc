// SPDX-License-Identifier: BSD-3-Clause
// The requester's commands that are sent portion by portion, each a record with its own answer.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "delegatee/requester.h"

namespace nagaya::delegatee {

using llcl::Command;
using llcl::Op;

namespace {

bool has_more(const Slot& slot) {
  const Command& command = slot.command;
  return command.op == Op::kAccumulate ? slot.sent_bytes != target_of(command).bytes
                                       : slot.at.piece < command.data.pieces.count;
}

bool sends_blocks(const Command& command) {
  return command.op == Op::kPutPieces ||
         (command.op == Op::kAccumulate && command.data.elements.operation != NAGAYA_REDUCE_NO_OP);
}

// Whether its answers bring blocks, or elements.
bool wants_blocks(const Command& command) {
  return command.op == Op::kGetPieces ||
         (command.op == Op::kAccumulate && command.data.elements.result != 0);
}

}  // namespace

// Sends the next portion; then the other commands have their turn, unless this one would leave its
// place among those that keep their order. After an error nothing more is sent. False: no credit,
// or no room.
bool Requester::send_next_portion(TargetNode& target) {
  const uint32_t index = target.pending.front();
  Slot& slot = slots_[index];
  const bool is_sent = slot.status != 0 || (slot.lends ? send_lent_portion(target, index)
                                                       : send_cut_portion(target, index));
  if (!is_sent) return false;
  if (slot.status == 0 && has_more(slot)) {
    const bool keeps_place =
        target.behind != 0 || (slot.command.keeps_order() && target.ordered > 1);
    if (!keeps_place) queue(pop_pending(target), State::kPending);
    return true;
  }
  pop_pending(target);
  slot.state = State::kSent;
  if (slot.sent_bytes == slot.answered_bytes) finish(index, slot.status);
  return true;
}

bool Requester::send_cut_portion(TargetNode& target, uint32_t index) {
  Slot& slot = slots_[index];
  Cursor next = slot.at;
  slot.status = cut_portion(slot, next);
  if (slot.status == 0 && portion_.bytes() != 0 && !send_portion(target, index)) return false;
  slot.at = next;
  return true;
}

int Requester::cut_portion(const Slot& slot, Cursor& at) {
  return slot.command.op == Op::kAccumulate
             ? portion_.cut_elements(slot.command, slot.sent_bytes, at)
             : portion_.cut(slot.command, at);
}

bool Requester::send_portion(TargetNode& target, uint32_t index) {
  Slot& slot = slots_[index];
  const size_t blocks_bytes = sends_blocks(slot.command) ? portion_.bytes() : 0;
  Header header = next_record(index);
  header.argument = static_cast<uint32_t>(portion_.entries());
  header.bytes = static_cast<uint32_t>(portion_.entries_bytes() + blocks_bytes);
  leave_open(header, blocks_bytes);
  const size_t answer_bytes = header.kind == Kind::kGetAccumulate ? portion_.bytes() : 0;
  std::byte* const payload = append(target, slot.command.node, header, answer_bytes);
  if (payload == nullptr) return false;
  std::byte* const blocks = portion_.write_entries(payload);
  if (blocks_bytes != 0) fill_blocks(slot, blocks);
  const auto bytes = static_cast<uint32_t>(portion_.bytes());
  portions_of(target, slot.command)
      .push({index, bytes, record_bytes(std::max<size_t>(header.bytes, answer_bytes)), slot.at});
  slot.sent_bytes += bytes;
  return true;
}

namespace {

// Size of the next portion behind `done` bytes of operands [bytes].
uint32_t lent_bytes(const Command& accumulate, uint64_t done) {
  const llcl::TargetElements target = target_of(accumulate);
  const uint64_t most = kLentMaxBytes - kLentMaxBytes % target.extent;
  return static_cast<uint32_t>(std::min(target.bytes - done, most));
}

}  // namespace

bool Requester::send_lent_portion(TargetNode& target, uint32_t index) {
  Slot& slot = slots_[index];
  Header header = next_record(index);
  header.offset = slot.command.offset + slot.sent_bytes;
  header.argument = lent_bytes(slot.command, slot.sent_bytes);
  header.bytes = sizeof(LentOperands);
  std::byte* const payload = append(target, slot.command.node, header);
  if (payload == nullptr) return false;
  const LentOperands operands{slot.remote, slot.sent_bytes};
  std::memcpy(payload, &operands, sizeof operands);
  slot.sent_bytes += header.argument;
  return true;
}

// Handles the answer to the command's oldest portion. False: it is malformed.
bool Requester::answered_lent_portion(uint32_t index, int status,
                                      std::span<const std::byte> payload) {
  if (!payload.empty()) return false;
  Slot& slot = slots_[index];
  TargetNode& target = targets_[slot.command.node];
  --target.sent;
  target.sent_bytes -= record_bytes(sizeof(LentOperands));
  slot.answered_bytes += lent_bytes(slot.command, slot.answered_bytes);
  if (slot.status == 0) slot.status = status;
  if (slot.state == State::kSent && slot.sent_bytes == slot.answered_bytes)
    finish(index, slot.status);
  return true;
}

// Copies the portion's blocks, or an accumulate's operands, from the task's memory.
void Requester::fill_blocks(const Slot& slot, std::byte* blocks) {
  if (slot.command.has_pieces()) return portion_.gather(blocks);
  const reduction::Elements& elements = elements_of(slot.command);
  // The gaps of pairs are sent, too: they hold nothing of an earlier batch.
  if (elements.copy != nullptr) std::memset(blocks, 0, portion_.bytes());
  const auto* const origin = reinterpret_cast<const std::byte*>(slot.command.data.elements.origin);
  elements.reduce[NAGAYA_REDUCE_REPLACE](nullptr, origin + slot.sent_bytes, blocks,
                                         portion_.bytes() / elements.extent);
}

// Handles the answer to the node's oldest portion of that kind. False: it answers something else.
bool Requester::answered_portion(uint32_t index, int status, std::span<const std::byte> payload) {
  Slot& slot = slots_[index];
  TargetNode& target = targets_[slot.command.node];
  Fifo<SentPortion>& portions = portions_of(target, slot.command);
  if (portions.empty() || portions.front().index != index) return false;
  const SentPortion sent = portions.front();
  const bool has_blocks = wants_blocks(slot.command) && status == 0;
  if (payload.size() != (has_blocks ? sent.bytes : 0)) return false;
  portions.pop();
  --target.sent;
  target.sent_bytes -= sent.record_bytes;
  if (has_blocks && !slot.is_orphan) status = store_blocks(slot, sent.at, payload);
  slot.answered_bytes += sent.bytes;
  if (slot.status == 0) slot.status = status;
  if (slot.state == State::kSent && slot.sent_bytes == slot.answered_bytes)
    finish(index, slot.status);
  return true;
}

// Copies the answered blocks into the task's memory; `at`: where their portion begins. Returns 0;
// -EINVAL: the task has changed its pieces meanwhile.
int Requester::store_blocks(const Slot& slot, Cursor at, std::span<const std::byte> blocks) {
  const Command& command = slot.command;
  if (command.op == Op::kAccumulate) {
    const reduction::Elements& elements = elements_of(command);
    auto* const result = reinterpret_cast<std::byte*>(command.data.elements.result);
    elements.reduce[NAGAYA_REDUCE_REPLACE](nullptr, blocks.data(), result + slot.answered_bytes,
                                           blocks.size() / elements.extent);
    return 0;
  }
  if (portion_.cut(command, at) != 0 || portion_.bytes() != blocks.size()) return -EINVAL;
  portion_.scatter(blocks.data());
  return 0;
}

}  // namespace nagaya::delegatee
