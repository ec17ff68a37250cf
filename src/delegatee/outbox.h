// SPDX-License-Identifier: BSD-3-Clause
// outbox.h - outgoing batches: per node one that is being filled, and some that the fabric still
// reads from.
//
//   append ──► open ──full, or flush──► in flight ──kSent──► free
//
// A batch is patient if nobody waits for any of its records: for a while it waits for further ones.
// A node has at most kBuffersPerNode batches, so a node that takes none cannot use up all buffers.
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
  // kNextRound: the batch leaves after another round over the lanes. Before that round the
  // delegatee lets tasks run if it has nothing else to do: one of them may answer in the same
  // batch.
  enum class Haste : uint8_t { kPatient, kNextRound, kNow };

  Outbox(fabric::Fabric& fabric, Proofs& proofs, size_t nodes, const Options& options);

  // The longest payload that fits into an empty batch.
  size_t payload_max_bytes() const { return batch_bytes_ - sizeof(Prologue) - sizeof(Header); }
  // Adds a record for the node, with a payload of at most payload_max_bytes(). Returns the payload,
  // which the caller fills before its next call here; nullptr: no room just now.
  std::byte* append(Node node, const Header& header, Haste haste = Haste::kNow);
  // Sends batches that are full or have not grown since the last flush, with `all` also those of
  // haste kNow. Patient batches stay until their receipts have waited long enough or are many.
  void flush(bool all, uint64_t now_ns);
  // Sends all batches of haste kNow. The others wait as if it had not been called.
  void send_hasty();
  // Lets the next flush send patient batches, too: those that only carry receipts.
  void send_patient_too() { is_to_send_patient_ = true; }
  // Handles a kSent event, with or without an error: frees the buffer.
  void sent(const fabric::Event& event);
  // The node has failed: throws away its batch that is not in flight.
  void forget(Node node);

  // Whether the fabric has refused a batch since the beginning of the last flush.
  bool was_refused() const { return was_refused_; }
  uint64_t batches() const { return batches_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Buffer {
    alignas(8) std::byte data[kBatchMaxBytes];
    uint32_t bytes;
    uint32_t seen_bytes;  // `bytes` at the last flush
    uint16_t records;
    Haste haste;
    uint64_t since_ns;  // the time of the first flush that found it
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
  std::vector<std::unique_ptr<Buffer>> buffers_;  // the index is the cookie
  std::vector<uint32_t> free_;
  std::vector<Node> open_;  // nodes that have an open batch, or had one since the last flush
  bool was_refused_ = false;
  bool is_to_send_patient_ = false;
  uint64_t batches_ = 0;
};

}  // namespace nagaya::delegatee
