// SPDX-License-Identifier: BSD-3-Clause
// outbox.h - batches on their way out: per node one that is being filled, and some that the fabric
// still reads from.
//
//   append ──► open ──full, or flush──► in flight ──kSent──► free
//
// A batch of which nobody waits for any record is patient: for a while it waits for others. A node
// has at most kBuffersPerNode batches, so one that takes nothing cannot use up all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "delegatee/batch.h"
#include "delegatee/options.h"
#include "delegatee/proof.h"
#include "fabric/fabric.h"

namespace nagaya::delegatee {

class Outbox {
 public:
  static constexpr uint32_t kBuffersPerNode = 4;
  // kNextRound: after another round over the lanes, before which the delegatee lets tasks run if it
  // has nothing else to do: one of them may answer in the same batch.
  enum class Haste : uint8_t { kPatient, kNextRound, kSoon };

  Outbox(fabric::Fabric& fabric, Proofs& proofs, size_t nodes, const Options& options);

  // The longest payload that fits into an empty batch.
  size_t payload_max_bytes() const { return batch_bytes_ - sizeof(Prologue) - sizeof(Header); }
  // A record for the node; the caller fills the payload before anything else happens here. nullptr:
  // no room just now. A payload of at most payload_max_bytes().
  std::byte* append(Node node, const Header& header, Haste haste = Haste::kSoon);
  // Sends the batches that are full or have not grown since the last flush; or all; but not those
  // that are patient.
  void flush(bool all, uint64_t now_ns);
  // Nothing is patient until after the next flush.
  void hurry() { hurries_ = true; }
  // A kSent event, good or bad: the buffer is free again.
  void sent(const fabric::Event& event);
  // The node has failed: batches that are not under way are thrown away.
  void forget(Node node);

  // Whether the fabric has refused something since the last flush.
  bool was_refused() const { return was_refused_; }
  uint64_t batches() const { return batches_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Buffer {
    alignas(8) std::byte data[kBatchMaxBytes];
    uint32_t bytes;
    uint32_t seen_bytes;  // at the last flush
    uint16_t records;
    Haste haste;
    uint64_t since_ns;  // the first flush that has seen it
  };
  struct Destination {
    uint32_t open = kNone;
    uint32_t in_flight = 0;
    bool is_listed = false;  // in open_
  };

  bool open(Node node);
  bool send(Node node);
  bool is_due(Node node, bool all, uint64_t now_ns);
  bool has_room(const Buffer& buffer, size_t bytes) const {
    return buffer.records < batch_records_ && batch_bytes_ - buffer.bytes >= bytes;
  }

  fabric::Fabric& fabric_;
  Proofs& proofs_;
  const size_t batch_bytes_;
  const uint16_t batch_records_;
  const uint64_t receipts_wait_ns_;
  const uint16_t receipts_max_;
  std::vector<Destination> destinations_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  // their place is the cookie
  std::vector<uint32_t> free_;
  std::vector<Node> open_;  // nodes that have an open batch, or had one since the last flush
  bool was_refused_ = false;
  bool hurries_ = false;
  uint64_t batches_ = 0;
};

}  // namespace nagaya::delegatee
