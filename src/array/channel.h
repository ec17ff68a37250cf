// SPDX-License-Identifier: BSD-3-Clause
// channel.h - moves one box of a halo plan between two nodes: its owner packs it and writes it into
// the reader's memory, and the same request adds 1 to a word there.
//
//   owner: ChannelSender                     reader: ChannelReceiver
//     packed 0, packed 1  ── write, +1 ──►     arrived 0, landing 0
//                                              arrived 1, landing 1
//     consumed            ◄── receipt ───      if the plan has no box the other way
//
// Exchange n uses side n % 2 of packed, arrived and landing, so the owner may be one exchange
// ahead. It writes box n once the reader has unpacked box n - 2. The owner knows that from
// receipts, or if the plan has a box the other way, from the reader's box of exchange n - 1.
// Requests may overtake each other, so each landing has a word of its own.
//
//   arrived   m -> m + 1    by the owner's request, after the data: the delegatee of its node
//   consumed  m -> m + 1    by the reader's receipt
//
// The ends send each other the places of their memory by two-sided messages, once for each plan;
// the first write and the first receipt wait for these. An exchange is complete at the reader when
// its receipt has left, so the owner's memory may be freed when all receipts have arrived. An end
// that saw an error starts no exchange any more; the other end may then wait for it, as after a
// death, until the job has ended (law 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "array/channel_end.h"
#include "array/members.h"
#include "layout/strided.h"
#include "nagaya/match.h"

namespace nagaya::array {

// Words and landings of the calling process, which other nodes write. Registered from share() until
// its destructor.
class SharedMemory {
 public:
  // The memory is zero. May throw std::bad_alloc.
  explicit SharedMemory(size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Returns 0 (also if it is shared already), -ENOSPC, -ESRCH.
  int share();
  std::byte* at(size_t offset) const { return memory_.get() + offset; }
  nagaya_remote place(size_t offset) const;
  // Returns the n-th 64-bit word. Acquire: pairs with the request that has added to it.
  uint64_t word(size_t n) const;

 private:
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  const size_t bytes_;
  nagaya_remote first_{};
  bool is_shared_ = false;
};

// The messages by which the two ends of a channel send each other their ChannelEnd.
class Handshake {
 public:
  // Start the message, unless an earlier call has. Return 0, or an errno. `bytes`: for
  // ChannelEnd::is_of().
  int send(nagaya_process to, const nagaya_envelope& envelope, const ChannelEnd& own);
  int receive(nagaya_process from, const nagaya_envelope& envelope, size_t bytes);
  // Returns 1 (the other end's memory is known, or receive() was not called), 0 (not yet), the
  // error of a message, or -EPROTO (the other end's message is not valid).
  int is_other_known();
  const ChannelEnd& other_end() const { return other_; }
  // Whether neither message is pending.
  bool has_no_pending_messages();

 private:
  ChannelEnd own_{}, other_{};
  bool is_send_started_ = false, is_receive_started_ = false;
  size_t bytes_ = 0;
  nagaya_send sent_{};
  nagaya_receive received_{};
};

class ChannelReceiver {
 public:
  // `bytes`: size of the box. May throw std::bad_alloc.
  ChannelReceiver(size_t bytes, bool has_receipts);

  // Registers the memory and starts the handshake. Returns 0, or an errno: then
  // it may be called again, and goes on where it failed.
  int open(const Members& members, uint32_t owner, uint32_t side);
  // Unpacks the exchange's box to `to`, and sends the owner a receipt if it needs one. Returns 1, 0
  // (not yet), or an errno.
  int try_take(uint64_t exchange, const layout::StridedCopy& box, std::byte* to);
  // Whether none of this end's requests and messages is pending.
  bool has_no_pending_requests();
  // Returns the errno with which the last receipt failed, or 0.
  int error();

 private:
  int try_send_receipt();
  bool has_arrived(uint64_t exchange) const;
  const std::byte* landing(uint64_t exchange) const;

  const size_t stride_;
  const bool has_receipts_;
  SharedMemory memory_;
  Handshake handshake_;
  uint64_t unpacked_ = 0;  // number of exchanges
  uint32_t receipt_ = 1;   // completion flag of the last receipt
};

class ChannelSender {
 public:
  ChannelSender(size_t bytes, bool has_receipts);

  int open(const Members& members, uint32_t reader, uint32_t side);
  // Packs the box from `from` and starts to write it. Returns 1, 0 (not yet), or an errno.
  int try_write(uint64_t exchange, const layout::StridedCopy& box, const std::byte* from);
  // Whether no request of either end to or from this end's memory is pending.
  bool has_no_pending_requests();
  // Returns the errno with which one of the last two writes failed, or 0.
  int error();

 private:
  // Whether the exchange's buffer and landing are free. Returns 1, 0 (not yet), or an errno.
  int may_write(uint64_t exchange);

  const bool has_receipts_;
  SharedMemory memory_;  // has `consumed`
  std::vector<std::byte> packed_[2];
  uint32_t written_[2] = {1, 1};  // completion flags of the last writes
  uint64_t packs_ = 0, writes_ = 0;
  Handshake handshake_;
};

}  // namespace nagaya::array
