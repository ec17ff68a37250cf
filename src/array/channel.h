// SPDX-License-Identifier: BSD-3-Clause
// channel.h - the way of one box of a halo plan between two nodes: its owner packs it and writes it
// into memory of the reader's, and the same request adds to a word beside it.
//
//   owner: Outlet                            reader: Inlet
//     packed 0, packed 1  ── write, +1 ──►     arrived 0, landing 0
//                                              arrived 1, landing 1
//     consumed            ◄── receipt ───      if the plan has no box the other way
//
// Exchange n uses side n % 2 of everything, so the owner may be one exchange ahead. It writes
// number n when the reader has taken number n - 2: it knows that from the reader's own box of
// number n - 1, which it has received, or else from receipts. Requests have no order among each
// other, so each landing has a word of its own.
//
//   arrived   m -> m + 1    by the owner's request, behind the data: its node's delegatee
//   consumed  m -> m + 1    by the reader's receipt
//
// Both ends tell each other of their memory by match's messages, once for each plan; the first
// write and the first receipt wait for that. An exchange is complete at the reader when its receipt
// has left, so the owner's memory may go when all receipts are here. After an error at an end no
// exchange follows, and the other end may wait for it as after a death: until the job has ended
// (law 4).
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

// Words and landings of the calling process, which other nodes use. Registered while it lives.
class SharedMemory {
 public:
  // All zero. May throw std::bad_alloc.
  explicit SharedMemory(size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Returns 0 (also if it is shared already), -ENOSPC, -ESRCH.
  int share();
  std::byte* at(size_t offset) const { return memory_.get() + offset; }
  nagaya_remote place(size_t offset) const;
  // Acquire: pairs with the request that has added to it.
  uint64_t word(size_t n) const;

 private:
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  const size_t bytes_;
  nagaya_remote first_{};
  bool is_shared_ = false;
};

// The two messages by which the ends get to know each other.
class Greeting {
 public:
  // Return 0 (also if it is under way or over already), or an errno. `bytes`: as ChannelEnd has it.
  int send(nagaya_process to, const nagaya_envelope& envelope, const ChannelEnd& own);
  int receive(nagaya_process from, const nagaya_envelope& envelope, size_t bytes);
  // Returns 1 (the other end is known, or not asked for), 0, the error of a message, or -EPROTO: it
  // has said what cannot be.
  int is_known();
  const ChannelEnd& other() const { return other_; }
  // Neither message is under way.
  bool is_over();

 private:
  ChannelEnd own_{}, other_{};
  bool is_sent_ = false, is_asked_for_ = false;
  size_t bytes_ = 0;
  nagaya_send sent_{};
  nagaya_receive received_{};
};

class Inlet {
 public:
  // `bytes`: of the box. May throw std::bad_alloc.
  Inlet(size_t bytes, bool has_receipts);

  // Returns 0, or an errno: it is to be called again.
  int open(const Members& members, uint32_t owner, uint32_t side);
  // Unpacks an exchange's box to `to`, and gives its landing back to the owner. Returns 1, 0 (not
  // yet), or an errno.
  int try_take(uint64_t exchange, const layout::StridedCopy& box, std::byte* to);
  // No request of its own is under way.
  bool is_quiet();
  // Of a receipt that is over: 0, or an errno.
  int error();

 private:
  int try_send_receipt();
  bool has_arrived(uint64_t exchange) const;
  const std::byte* landing(uint64_t exchange) const;

  const size_t stride_;
  const bool has_receipts_;
  SharedMemory memory_;
  Greeting greeting_;
  uint64_t unpacked_ = 0;  // exchanges
  uint32_t receipt_ = 1;   // flag of the last one
};

class Outlet {
 public:
  Outlet(size_t bytes, bool has_receipts);

  int open(const Members& members, uint32_t reader, uint32_t side);
  // Packs the box from `from` and starts to write it. Returns 1, 0 (not yet), or an errno.
  int try_write(uint64_t exchange, const layout::StridedCopy& box, const std::byte* from);
  // No request, of either end, is under way to or from its memory.
  bool is_quiet();
  // Of a write that is over: 0, or an errno.
  int error();

 private:
  // Returns 1, 0 (not yet), or an errno.
  int may_write(uint64_t exchange);

  const bool has_receipts_;
  SharedMemory memory_;  // of `consumed`
  std::vector<std::byte> packed_[2];
  uint32_t written_[2] = {1, 1};  // flags of the last writes
  uint64_t packs_ = 0, writes_ = 0;
  Greeting greeting_;
};

}  // namespace nagaya::array
