// SPDX-License-Identifier: BSD-3-Clause
// Other nodes' accumulates and compare-and-swaps. They are carried out as they come, also when
// there is no room for the answer, so that those of one thread keep their order. A large accumulate
// does not bring its operands: this node reads them, several pieces at a time, and the node's
// later records of these kinds wait until it is carried out.
#include <algorithm>
#include <cerrno>

#include "delegatee/batch_strided.h"
#include "delegatee/target.h"
#include "mailbox/machine.h"
#include "reduction/reductions.h"

namespace nagaya::delegatee {

// `result`: gets the values from before, unless it is nullptr.
int Target::accumulate_into(const Header& request, Payload payload, std::byte* result) {
  const Memory to = regions_.find(request.task, request.region);
  if (to.error != 0) return to.error;
  const StridedList entries(payload, request.argument);
  if (!entries.lie_in(to.bytes)) return -EINVAL;
  runs_.clear();
  uint64_t bytes = 0;
  for (size_t n = 0; n < entries.count(); ++n) {
    const Strided entry = entries[n];
    runs_.push_back({to.base + entry.offset, entry.block_bytes, entry.count, entry.stride});
    bytes += entry.bytes();
  }
  const auto type = static_cast<nagaya_element_type>(request.type);
  return regions_.accumulate({type, static_cast<nagaya_reduction>(request.operation),
                              bytes / reduction::elements_of(type).extent, nullptr, runs_.data(),
                              entries.behind().data(), result});
}

int Target::accumulate(const Header& request, Payload payload, uint64_t&) {
  return accumulate_into(request, payload, nullptr);
}

bool Target::get_accumulate(Node node, const Header& request, Payload payload) {
  const uint64_t bytes = StridedList(payload, request.argument)
                             .bytes(outbox_.payload_max_bytes())
                             .value_or(UINT64_MAX);
  Answer done{request, -EMSGSIZE, 0};
  if (bytes <= outbox_.payload_max_bytes()) {
    // The gaps of pairs are sent, too: they hold nothing of an earlier answer.
    if (reduction::elements_of(static_cast<nagaya_element_type>(request.type)).copy != nullptr)
      std::fill_n(before_.begin(), bytes, std::byte{});
    done.status = accumulate_into(request, payload, before_.data());
  }
  if (done.status == 0) wake_later(request.task);
  return answer(node, done, Payload(before_).first(done.status == 0 ? bytes : 0));
}

bool Target::write_elements(Node node, Header& header, const Answer&, Payload kept) {
  header.bytes = static_cast<uint32_t>(kept.size());
  leave_open(header, kept.size());
  std::byte* const payload = outbox_.append(node, header);
  if (payload != nullptr) std::copy(kept.begin(), kept.end(), payload);
  return payload != nullptr;
}

int Target::compare_swap(const Header& request, Payload payload, uint64_t& before) {
  const Memory word = find(request, request.argument);
  if (word.error != 0) return word.error;
  Operands operands;
  std::memcpy(&operands, payload.data(), sizeof operands);
  return regions_.compare_swap(
      {word.base, request.argument, &operands.expected, &operands.operand, &before});
}

// ---- operands that the requester lends ---------------------------------------------------------

bool Target::keep_in_order(Node node, const Header& request, Payload payload) {
  OriginNode& origin = origins_[node];
  if (!origin.has_room(payload.size())) return false;
  origin.ordered.push({request, {payload.begin(), payload.end()}});
  origin.kept_bytes += payload.size();
  make_busy(node);
  begin_reads(node);
  return true;
}

// Starts reads in the order of the records, so that the first record, for which all others wait,
// never lacks a buffer that one of them has.
void Target::begin_reads(Node node) {
  constexpr uint32_t kReadsOfNode = OperandReads::kReads / 2;  // other nodes have room, too
  OriginNode& origin = origins_[node];
  for (; origin.begun < origin.ordered.size(); ++origin.begun) {
    Ordered& next = origin.ordered[origin.begun];
    const Header& request = next.request;
    if (request.kind != Kind::kAccumulateLent || find(request, request.argument).error != 0)
      continue;
    if (origin.reading == kReadsOfNode) return;
    LentOperands operands;
    std::memcpy(&operands, next.payload.data(), sizeof operands);
    next.read = reads_.start(node, operands, request.argument);
    if (next.read == OperandReads::kNone) return;
    ++origin.reading;
  }
}

// Carries out the first records, as far as their operands have come.
bool Target::advance_ordered(Node node) {
  OriginNode& origin = origins_[node];
  bool moved = false;
  for (; origin.begun != 0; moved = true) {
    const uint32_t read = origin.ordered.front().read;
    if (read != OperandReads::kNone && !reads_.is_done(read)) break;
    const Ordered first = std::move(origin.ordered.front());
    origin.ordered.pop();
    --origin.begun;
    origin.kept_bytes -= first.payload.size();
    if (first.request.kind == Kind::kAccumulateLent)
      accumulate_lent(node, first);
    else  // takes the room of the record that was popped
      carry_out(node, first.request, first.payload);
  }
  begin_reads(node);
  return moved;
}

void Target::accumulate_lent(Node node, const Ordered& record) {
  mailbox::Machine::step(mailbox::StopPoint::kOperandsRead);
  const Header& request = record.request;
  const Memory to = find(request, request.argument);  // the region may have ended meanwhile
  Answer done{request, to.error, 0};
  if (record.read == OperandReads::kNone)
    done.status = -EINVAL;
  else if (done.status == 0)
    done.status = reads_.error(record.read);
  if (done.status == 0) {
    const auto type = static_cast<nagaya_element_type>(request.type);
    done.status = regions_.accumulate({type, static_cast<nagaya_reduction>(request.operation),
                                       request.argument / reduction::elements_of(type).extent,
                                       to.base, nullptr, reads_.data(record.read), nullptr});
    wake_later(request.task);
  }
  if (record.read != OperandReads::kNone) {
    reads_.release(record.read);
    --origins_[node].reading;
  }
  answer(node, done);
}

}  // namespace nagaya::delegatee
