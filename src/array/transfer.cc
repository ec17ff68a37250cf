// SPDX-License-Identifier: BSD-3-Clause
#include "array/transfer.h"

#include <algorithm>

#include "array/box_messages.h"
#include "array/statistics.h"
#include "llcl/requests/processes.h"
#include "match/finish.h"
#include "task/load/freestanding/stop_point.h"

namespace nagaya::array {
namespace {

constexpr uint32_t kSide = 0;  // of the messages' envelopes

size_t bytes_of(const std::vector<TransferBox>& boxes) {
  size_t bytes = 0;
  for (const TransferBox& box : boxes) bytes += box.box.bytes();
  return bytes;
}

size_t block_bytes(const Side& side, uint32_t member) {
  const int64_t rank = side.rank_of_member(member);
  return rank < 0 ? 0 : side.shape().layout_of_rank(static_cast<uint32_t>(rank)).bytes;
}

bool overlap(const std::byte* a, size_t a_bytes, const std::byte* b, size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

void add_signature(const nagaya_array_side& side, const processes::ProcessSet& members,
                   std::vector<int64_t>& to) {
  to.push_back(static_cast<int64_t>(side.shape->element_bytes));
  to.push_back(side.shape->dimensions);
  for (uint32_t d = 0; d < side.shape->dimensions; ++d) {
    const nagaya_array_dimension& of = side.shape->dimension[d];
    const nagaya_distribution& how = of.distribution;
    const Triplet& section = side.section[d];
    to.insert(to.end(), {of.extent, of.grid_dimension, of.offset, of.shadow_low, of.shadow_high,
                         section.first, section.count, section.step});
    if (of.grid_dimension < 0) continue;
    to.insert(to.end(), {how.low, how.high, how.width, how.coordinates, how.kind});
    if (how.kind == NAGAYA_DISTRIBUTION_GENERAL)
      to.insert(to.end(), how.begin, how.begin + how.coordinates + 1);
  }
  to.push_back(side.grid != nullptr ? side.grid->dimensions : 0);
  if (side.grid == nullptr) return;
  to.insert(to.end(), side.grid->extent, side.grid->extent + side.grid->dimensions);
  const processes::ProcessSet& of = *side.grid->processes->set;
  for (uint32_t rank = 0; rank < of.size(); ++rank) to.push_back(members.rank_of(of.process(rank)));
}

}  // namespace

// ---- plans --------------------------------------------------------------------------------------

TransferParts::TransferParts(const nagaya_array_side& to, const nagaya_array_side& from,
                             const processes::ProcessSet& members) {
  const Side to_side(to, members), from_side(from, members);
  const TransferPlan plan(to_side, from_side, members);
  const uint32_t own = members.rank();
  to_bytes = block_bytes(to_side, own);
  from_bytes = block_bytes(from_side, own);
  for (TransferBox& box : plan.boxes_of(own)) {
    auto part = std::ranges::find(receives, box.source, &Part::member);
    if (part == receives.end()) part = receives.insert(part, Part{box.source, {}, 0});
    part->boxes.push_back(std::move(box));
  }
  for (Part& part : receives) part.bytes = bytes_of(part.boxes);
  // Each reader begins with another source, so that they do not all read one block at a time.
  const auto first =
      std::ranges::find_if(receives, [own](const Part& p) { return p.member >= own; });
  std::rotate(receives.begin(), first, receives.end());
  for (uint32_t reader = 0; from_bytes != 0 && reader < members.size(); ++reader) {
    if (reader == own) continue;
    std::vector<TransferBox> boxes = plan.boxes_of(reader, own);
    if (boxes.empty()) continue;
    if (members.is_here(reader))
      readers_here.push_back(reader);
    else
      sends.push_back({reader, std::move(boxes), 0});
  }
  for (Part& part : sends) part.bytes = bytes_of(part.boxes);
}

const TransferParts& Transfers::parts_of(const nagaya_array_side& to,
                                         const nagaya_array_side& from) {
  std::vector<int64_t> signature;
  add_signature(to, members_.processes(), signature);
  add_signature(from, members_.processes(), signature);
  const auto found = std::ranges::find(planned_, signature, &Planned::signature);
  if (found != planned_.end()) return *found->parts;
  Planned planned{std::move(signature),
                  std::make_unique<TransferParts>(to, from, members_.processes())};
  if (planned_.size() < kPlannedMax) return *planned_.emplace_back(std::move(planned)).parts;
  Planned& oldest = planned_[oldest_++ % kPlannedMax];
  oldest = std::move(planned);
  return *oldest.parts;
}

// ---- an assignment ------------------------------------------------------------------------------

Assignment::Assignment(Members& members, const TransferParts& parts, void* to, const void* from)
    : members_(members),
      to_(static_cast<std::byte*>(to)),
      from_(static_cast<const std::byte*>(from)),
      keeps_apart_(overlap(to_, parts.to_bytes, from_, parts.from_bytes)),
      sends_(parts.sends.size()) {
  for (const TransferParts::Part& part : parts.receives) {
    const bool is_message = !members.is_here(part.member);
    Receive& receive = receives_.emplace_back(Receive{&part, is_message});
    receive.packed.resize(is_message || keeps_apart_ ? part.bytes : 0);
  }
  for (size_t n = 0; n < sends_.size(); ++n) sends_[n].packed.resize(parts.sends[n].bytes);
  for (Receive& receive : receives_)
    if (receive.is_message) start_receive(receive);
  for (size_t n = 0; n < sends_.size(); ++n) start_send(parts.sends[n], sends_[n]);
  if (!members_.is_open()) return;
  members_.show_base(const_cast<std::byte*>(from_));
  members_.show_ready(parts.readers_here.size());
  task::stop_at(task::StopPoint::kHaloReady);
  for (const uint32_t reader : parts.readers_here) members_.wake(reader);
}

void Assignment::start_receive(Receive& receive) {
  nagaya_receive& message = receive.message;
  message.wanted = members_.envelope(receive.part->member, kSide);
  message.from = members_.process(receive.part->member);
  message.buffer = receive.packed.data();
  message.capacity = receive.packed.size();
  start(message, nagaya_match_receive);
}

void Assignment::start_send(const TransferParts::Part& part, Send& send) {
  std::byte* at = send.packed.data();
  for (const TransferBox& box : part.boxes) {
    box.box.pack_from(at, from_ + box.from);
    at += box.box.bytes();
  }
  send.message.to = members_.process(part.member);
  send.message.envelope = members_.envelope(members_.rank(), kSide);
  send.message.data = send.packed.data();
  send.message.bytes = send.packed.size();
  Statistics::count(Statistics::own().messages);
  start(send.message, nagaya_match_send);
}

bool Assignment::advance() {
  if (is_complete_) return true;
  bool are_received = true;
  for (Receive& receive : receives_) {
    receive.is_done = receive.is_done || try_receive(receive);
    are_received = are_received && receive.is_done;
  }
  if (!are_received || !are_messages_sent()) return false;
  if (members_.is_open() && !members_.is_all_read()) return false;
  if (keeps_apart_)
    for (const Receive& receive : receives_)
      if (!receive.is_message || error_of(receive.message) == 0) unpack(receive);
  return is_complete_ = true;
}

bool Assignment::try_receive(Receive& receive) {
  const uint32_t source = receive.part->member;
  if (receive.is_message) {
    if (!match::is_complete(receive.message)) return false;
    const int error = error_of(receive.message);
    record(error);
    if (error == 0 && !keeps_apart_) unpack(receive);
    return true;
  }
  if (source == members_.rank()) {
    copy(receive, from_);
    return true;
  }
  if (!members_.is_ready(source)) return false;
  copy(receive, members_.base_of(source));
  Statistics::count(Statistics::own().copies);
  task::stop_at(task::StopPoint::kHaloRead);
  members_.count_read(source);
  members_.wake(source);
  return true;
}

void Assignment::copy(Receive& receive, const std::byte* from) {
  std::byte* packed = receive.packed.data();
  for (const TransferBox& box : receive.part->boxes) {
    if (!keeps_apart_) {
      box.box.copy(to_ + box.to, from + box.from);
    } else {
      box.box.pack_from(packed, from + box.from);
      packed += box.box.bytes();
    }
  }
}

void Assignment::unpack(const Receive& receive) {
  const std::byte* packed = receive.packed.data();
  for (const TransferBox& box : receive.part->boxes) {
    box.box.unpack_to(to_ + box.to, packed);
    packed += box.box.bytes();
  }
}

bool Assignment::are_messages_sent() {
  for (Send& send : sends_)
    if (!match::is_complete(send.message)) return false;
  for (Send& send : sends_) record(send.message.error);
  return true;
}

void Assignment::record(int error) {
  if (error_ == 0) error_ = error;
}

}  // namespace nagaya::array
