// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/outbox.h"

#include <algorithm>
#include <utility>

namespace nagaya::delegatee {

Outbox::Outbox(fabric::Fabric& fabric, Proofs& proofs, size_t nodes, const Options& options)
    : fabric_(fabric),
      proofs_(proofs),
      // A multiple of 8, as records are.
      batch_bytes_(std::min({options.batch_bytes, fabric.message_max_bytes(), kBatchMaxBytes}) &
                   ~size_t{7}),
      batch_records_(
          static_cast<uint16_t>(std::clamp<uint32_t>(options.batch_records, 1, kBatchMaxRecords))),
      receipts_wait_ns_(options.receipts_wait_ns),
      receipts_max_(options.receipts_max),
      destinations_(nodes) {}

std::byte* Outbox::append(Node node, const Header& header, Haste haste) {
  const size_t bytes = record_bytes(header.bytes);
  Destination& destination = destinations_[node];
  if (destination.open != kNone && !has_room(*buffers_[destination.open], bytes) && !send(node))
    return nullptr;
  if (destination.open == kNone && !open(node)) return nullptr;
  Buffer& buffer = *buffers_[destination.open];
  std::byte* record = buffer.data + buffer.bytes;
  std::memcpy(record, &header, sizeof header);
  // The padding is sent, too: zeroed, so that it holds nothing of an earlier batch.
  if (header.bytes % 8 != 0) std::memset(record + bytes - 8, 0, 8);
  buffer.bytes += static_cast<uint32_t>(bytes);
  ++buffer.records;
  buffer.haste = std::max(buffer.haste, haste);
  return record + sizeof header;
}

bool Outbox::open(Node node) {
  Destination& destination = destinations_[node];
  if (destination.in_flight == kBuffersPerNode) return false;
  if (free_.empty()) {
    free_.reserve(buffers_.size() + 1);
    buffers_.push_back(std::make_unique<Buffer>());
    free_.push_back(static_cast<uint32_t>(buffers_.size() - 1));
  }
  destination.open = free_.back();
  free_.pop_back();
  Buffer& buffer = *buffers_[destination.open];
  buffer.bytes = sizeof(Prologue);
  buffer.seen_bytes = 0;
  buffer.records = 0;
  buffer.haste = Haste::kPatient;
  if (!std::exchange(destination.is_listed, true)) open_.push_back(node);
  return true;
}

bool Outbox::send(Node node) {
  Destination& destination = destinations_[node];
  Buffer& buffer = *buffers_[destination.open];
  const Prologue prologue{kBatchMagic, kBatchVersion, buffer.records, buffer.bytes, 0, 0, 0};
  std::memcpy(buffer.data, &prologue, sizeof prologue);
  proofs_.sign(node, {buffer.data, buffer.bytes});
  if (!fabric_.try_send(node, buffer.data, buffer.bytes, destination.open)) {
    was_refused_ = true;
    return false;
  }
  proofs_.sent(node);
  ++batches_;
  ++destination.in_flight;
  destination.open = kNone;
  return true;
}

void Outbox::flush(bool all, uint64_t now_ns) {
  was_refused_ = false;
  std::erase_if(open_, [&](Node node) {
    if (!is_due(node, all, now_ns) || (destinations_[node].open != kNone && !send(node)))
      return false;
    destinations_[node].is_listed = false;
    return true;
  });
  is_to_send_patient_ = false;
}

void Outbox::send_hasty() {
  std::erase_if(open_, [&](Node node) {
    Destination& destination = destinations_[node];
    const bool is_hasty =
        destination.open != kNone && buffers_[destination.open]->haste == Haste::kNow;
    if (!is_hasty || !send(node)) return false;
    destination.is_listed = false;
    return true;
  });
}

bool Outbox::is_due(Node node, bool all, uint64_t now_ns) {
  if (destinations_[node].open == kNone) return true;
  Buffer& buffer = *buffers_[destinations_[node].open];
  if (buffer.seen_bytes == 0) buffer.since_ns = now_ns;
  const bool has_grown = std::exchange(buffer.seen_bytes, buffer.bytes) != buffer.bytes;
  if (buffer.records == batch_records_) return true;
  if (buffer.haste == Haste::kPatient && !is_to_send_patient_)
    return buffer.records >= receipts_max_ || now_ns - buffer.since_ns >= receipts_wait_ns_;
  return !has_grown || (all && (buffer.haste == Haste::kNow || is_to_send_patient_));
}

void Outbox::sent(const fabric::Event& event) {
  --destinations_[event.node].in_flight;
  free_.push_back(static_cast<uint32_t>(event.cookie));
}

void Outbox::forget(Node node) {
  Destination& destination = destinations_[node];
  if (destination.open != kNone) free_.push_back(std::exchange(destination.open, kNone));
}

}  // namespace nagaya::delegatee
