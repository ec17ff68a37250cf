// SPDX-License-Identifier: BSD-3-Clause
// The requester's traffic with other nodes: records and transfers out, answers and events in.
#include <algorithm>
#include <cerrno>
#include <iterator>

#include "delegatee/requester.h"
#include "llcl/board/apply_atomic.h"

namespace nagaya::delegatee {

using llcl::Command;
using llcl::Op;

// ---- to the network ----------------------------------------------------------------------------

namespace {

// Indexed by Op; a large transfer asks for the region first. A fence sends nothing.
constexpr Kind kKindOf[] = {Kind::kGet,         Kind::kPut,       Kind::kAtomic,
                            Kind::kMessage,     Kind::kProbe,     Kind::kPutNotify,
                            Kind::kGetPieces,   Kind::kPutPieces, Kind::kAccumulate,
                            Kind::kCompareSwap, Kind::kAtomic};
static_assert(std::size(kKindOf) == llcl::kOps);

// Payload of the only record of a command that is sent in one [bytes].
uint64_t payload_bytes(const Slot& slot) {
  const Command& command = slot.command;
  if (slot.is_large) return 0;
  if (command.op == Op::kPut) return command.bytes();
  if (command.op == Op::kPutNotify) return sizeof(Counter) + command.data.block.bytes;
  return command.has_word() ? sizeof(Operands) : 0;
}

void fill(std::byte* payload, const Slot& slot, size_t bytes) {
  const Command& command = slot.command;
  if (bytes == 0) return;
  if (command.op == Op::kPutNotify) {
    const Command::Block& block = command.data.block;
    const Counter counter{block.counter_offset, static_cast<uint32_t>(block.counter_region), 0};
    std::memcpy(payload, &counter, sizeof counter);
    payload += sizeof counter;
    bytes -= sizeof counter;
  }
  const Operands operands{command.data.word.operand, command.data.word.expected};
  const void* from = command.local() + slot.sent_bytes;
  if (command.has_word()) from = &operands;
  if (command.inline_bytes != 0) from = command.data.payload;
  if (bytes != 0) std::memcpy(payload, from, bytes);
}

}  // namespace

// Makes the header of the command's next record. A message longer than one record is sent in parts,
// each with an answer of its own.
Header Requester::next_record(uint32_t index) const {
  const Slot& slot = slots_[index];
  const Command& command = slot.command;
  Header header{};
  header.kind = slot.is_large ? Kind::kRegion : kKindOf[static_cast<size_t>(command.op)];
  header.tag = slots_.tag(index);
  header.task = command.task;
  header.region = command.region;
  if (command.op == Op::kAccumulate) {
    if (command.data.elements.result != 0) header.kind = Kind::kGetAccumulate;
    if (slot.lends) header.kind = Kind::kAccumulateLent;
    header.operation = command.data.elements.operation;
    header.type = command.data.elements.type;
  }
  if (slot.is_large || command.is_in_portions()) return header;
  header.offset = command.offset;
  header.bytes = static_cast<uint32_t>(payload_bytes(slot));
  if (command.op == Op::kPut) leave_open(header, header.bytes);
  if (command.op == Op::kPutNotify) leave_open(header, header.bytes - sizeof(Counter));
  if (command.op == Op::kGet) header.argument = static_cast<uint32_t>(command.data.block.bytes);
  if (command.op == Op::kActiveMessage) {
    header.argument = slot.task;
    header.offset = command.bytes();
    header.bytes = static_cast<uint32_t>(
        std::min<uint64_t>(part_max_bytes_, command.bytes() - slot.sent_bytes));
    const uint64_t end = slot.sent_bytes + header.bytes;
    const uint64_t control_end = command.bytes() - command.user_bytes();
    if (end > control_end) leave_open(header, std::min<uint64_t>(end - control_end, header.bytes));
  }
  if (command.op == Op::kCompareSwap)
    header.argument = static_cast<uint32_t>(command.data.word.type);
  if (command.is_atomic()) {
    header.operation = static_cast<uint8_t>(command.atomic);
    header.type = static_cast<uint8_t>(command.data.word.type);
  }
  return header;
}

// Adds a record to the outbox and takes its credit, which counts the longer one of record and
// answer if the target keeps the answer until it has room. nullptr: no credit, or no room.
std::byte* Requester::append(TargetNode& target, Node node, const Header& header,
                             size_t answer_bytes) {
  const size_t bytes = record_bytes(std::max<size_t>(header.bytes, answer_bytes));
  if (target.sent >= options_.credit_commands || target.sent_bytes + bytes > options_.credit_bytes)
    return nullptr;
  std::byte* const payload = outbox_.append(node, header);
  if (payload == nullptr) return nullptr;
  ++target.sent;
  target.sent_bytes += bytes;
  return payload;
}

// Takes the first pending command out. Returns its slot.
uint32_t Requester::pop_pending(TargetNode& target) {
  const uint32_t index = target.pending.front();
  target.pending.pop(slots_);
  if (slots_[index].command.keeps_order()) --target.ordered;
  if (slots_[index].command.op == Op::kAtomicBehind) --target.behind;
  return index;
}

bool Requester::send_first(TargetNode& target) {
  const uint32_t index = target.pending.front();
  Slot& slot = slots_[index];
  if (slot.is_orphan) return drop_first(target);
  if (slot.command.is_in_portions()) return send_next_portion(target);
  const Header header = next_record(index);
  std::byte* const payload = append(target, slot.command.node, header);
  if (payload == nullptr) return false;
  fill(payload, slot, header.bytes);
  if (slot.command.op == Op::kActiveMessage) slot.sent_bytes += header.bytes;
  if (slot.command.op == Op::kActiveMessage && slot.sent_bytes < slot.command.bytes()) return true;
  pop_pending(target);
  slot.state = State::kSent;
  return true;
}

// Drops the first pending command, whose requester has ended, and with it the memory that would be
// sent.
bool Requester::drop_first(TargetNode& target) {
  const uint32_t index = target.pending.front();
  Slot& slot = slots_[index];
  Header cancel{};
  cancel.kind = Kind::kCancel;
  const bool is_begun = slot.command.op == Op::kActiveMessage && slot.sent_bytes != 0;
  if (is_begun && outbox_.append(slot.command.node, cancel) == nullptr) return false;
  pop_pending(target);
  slot.state = State::kSent;
  if (slot.sent_bytes == slot.answered_bytes) finish(index, -ESRCH);
  return true;
}

bool Requester::transfer_first(TargetNode& target) {
  const uint32_t index = target.ready.front();
  Slot& slot = slots_[index];
  const Command& command = slot.command;
  const Command::Block& block = command.data.block;
  int error = slot.is_orphan ? -ESRCH : 0;
  if (command.offset > slot.remote.bytes || block.bytes > slot.remote.bytes - command.offset)
    error = -EINVAL;
  if (error == 0 && !transfer(index)) return false;
  target.ready.pop(slots_);
  if (error != 0) finish(index, error);
  return true;
}

bool Requester::transfer(uint32_t index) {
  Slot& slot = slots_[index];
  const Command& command = slot.command;
  const uint64_t done = slot.sent_bytes, at = command.offset + done;
  const uint64_t bytes = std::min(command.data.block.bytes - done, kTransferMaxBytes);
  std::byte* const local = command.local() + done;
  const uint32_t tag = slots_.tag(index);
  slot.in_fabric = command.op == Op::kGet
                       ? fabric_.try_read(command.node, local, bytes, slot.remote, at, tag)
                       : fabric_.try_write(command.node, local, bytes, slot.remote, at, tag);
  if (!slot.in_fabric) {
    was_refused_ = true;
    return false;
  }
  slot.state = State::kTransferring;
  slot.sent_bytes += bytes;
  transferring_bytes_ += bytes;
  targets_[command.node].transferring_bytes += bytes;
  ++targets_[command.node].transferring;
  return true;
}

// ---- from the network --------------------------------------------------------------------------

bool Requester::answered(Node node, const Header& header, std::span<const std::byte> payload) {
  const uint32_t index = slots_.find(header.tag);
  if (index == kNone) return false;
  Slot& slot = slots_[index];
  const int status = static_cast<int32_t>(header.argument);
  const bool is_asked = slot.state == State::kSent ||
                        (slot.state == State::kPending && slot.sent_bytes > slot.answered_bytes);
  if (!is_asked || slot.command.node != node) return false;
  if (slot.command.op == Op::kActiveMessage)
    delivery_.note_backlog(node, slot.command.task, header.region != 0);
  if (slot.lends) return answered_lent_portion(index, status, payload);
  if (slot.command.is_in_portions()) return answered_portion(index, status, payload);
  if (!store_answer(slot, status, payload)) return false;
  if (slot.status == 0) slot.status = status;
  if (!was_last_answer(slot)) return true;
  if (!slot.is_large || status != 0) {
    finish(index, slot.status);
    return true;
  }
  regions_.set_region(RemoteRegionCache::name_of(slot.command), slot.remote);
  queue(index, State::kReady);
  return true;
}

// Gives back the credit of the answered record. True if no answer to the command is missing.
bool Requester::was_last_answer(Slot& slot) {
  const Command& command = slot.command;
  TargetNode& target = targets_[command.node];
  uint64_t bytes = payload_bytes(slot);
  if (command.op == Op::kActiveMessage)
    bytes = std::min<uint64_t>(part_max_bytes_, slot.sent_bytes - slot.answered_bytes);
  --target.sent;
  target.sent_bytes -= record_bytes(bytes);
  if (command.op == Op::kActiveMessage) slot.answered_bytes += bytes;
  return slot.state == State::kSent && slot.answered_bytes == slot.sent_bytes;
}

// Copies the payload of an answer to the task. False: it is not as long as the request asked for.
bool Requester::store_answer(Slot& slot, int status, std::span<const std::byte> payload) {
  const Command& command = slot.command;
  void* to = nullptr;
  size_t expected_bytes = 0, used_bytes = 0;
  if (status != 0) {
  } else if (slot.is_large) {
    to = &slot.remote;
    expected_bytes = used_bytes = sizeof slot.remote;
  } else if (command.op == Op::kGet) {
    to = command.local();
    expected_bytes = used_bytes = command.data.block.bytes;
  } else if (command.has_word()) {
    to = reinterpret_cast<std::byte*>(command.data.word.before);
    expected_bytes = sizeof(uint64_t);
    // The word's low bytes come first.
    used_bytes = command.is_atomic() ? llcl::size_of(command.type()) : command.data.word.type;
  }
  if (payload.size() != expected_bytes) return false;
  const bool is_orphans = slot.is_orphan && !slot.is_large;
  if (to != nullptr && used_bytes != 0 && !is_orphans) std::memcpy(to, payload.data(), used_bytes);
  return true;
}

void Requester::transferred(const fabric::Event& event) {
  const uint32_t index = slots_.find(event.cookie);
  if (index == kNone) return;
  Slot& slot = slots_[index];
  slot.in_fabric = false;
  const uint64_t bytes = slot.sent_bytes - slot.answered_bytes;
  --targets_[slot.command.node].transferring;
  targets_[slot.command.node].transferring_bytes -= bytes;
  transferring_bytes_ -= bytes;
  if (event.error == 0)
    slot.answered_bytes = slot.sent_bytes;
  else
    slot.sent_bytes = slot.answered_bytes;
  if (slot.state == State::kLost) return slots_.release(index);
  if (slot.state != State::kTransferring) return;  // kUnposted: released when it is posted
  const bool is_whole = slot.answered_bytes == slot.command.data.block.bytes;
  if (event.error == 0 && !is_whole && !slot.is_orphan) return queue(index, State::kReady);
  if (event.error == 0 && slot.command.op == Op::kPutNotify && !slot.is_orphan) {
    // Only the notification is left to send: a small command without data.
    slot.is_large = false;
    slot.command.data.block.bytes = 0;
    return queue(index, State::kPending);
  }
  if (event.error == 0 || slot.has_retried || slot.is_orphan) return finish(index, event.error);
  // Asks for the region again. Perhaps it has ended, and the node can say so; perhaps the node has
  // failed, which the missing answer shows.
  slot.has_retried = true;
  regions_.forget(RemoteRegionCache::name_of(slot.command));
  queue(index, State::kPending);
}

void Requester::evict_unused_regions() {
  regions_.evict_unused([&](const RemoteRegionCache::Name& name) {
    Header notice{};
    notice.kind = Kind::kUnused;
    notice.task = static_cast<uint16_t>(name.task);
    notice.region = name.region;
    return outbox_.append(name.node, notice, Outbox::Haste::kPatient) != nullptr;
  });
}

}  // namespace nagaya::delegatee
