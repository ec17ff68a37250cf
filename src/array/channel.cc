// SPDX-License-Identifier: BSD-3-Clause
#include "array/channel.h"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "mailbox/machine.h"
#include "match/finish.h"

namespace nagaya::array {
namespace {

constexpr size_t kWordsBytes = mailbox::kLineBytes;  // before the landings

// Translates a request's error: 1 (accepted), 0 (not yet: the lane is full, or this thread has none
// and another one may), or the error.
int is_accepted(int error) {
  if (error == 0) return 1;
  return error == -EAGAIN || error == -ENOBUFS ? 0 : error;
}

// Returns a request's completion flag: 1 (complete), 0 (pending), or a negative errno. Acquire:
// pairs with the request's completion.
int32_t state_of(uint32_t& flag) {
  return static_cast<int32_t>(std::atomic_ref(flag).load(std::memory_order_acquire));
}

}  // namespace

// ---- memory -------------------------------------------------------------------------------------

SharedMemory::SharedMemory(size_t bytes)
    : memory_(static_cast<std::byte*>(std::aligned_alloc(mailbox::kLineBytes, bytes)), std::free),
      bytes_(bytes) {
  if (memory_ == nullptr) throw std::bad_alloc();
  std::memset(memory_.get(), 0, bytes);
}

SharedMemory::~SharedMemory() {
  if (is_shared_) nagaya_llcl_deregister(&first_);
}

int SharedMemory::share() {
  if (is_shared_) return 0;
  const int error = nagaya_llcl_register(memory_.get(), bytes_, &first_);
  is_shared_ = error == 0;
  return error;
}

nagaya_remote SharedMemory::place(size_t offset) const {
  return with_offset(first_, offset);
}

uint64_t SharedMemory::word(size_t n) const {
  auto* const words = reinterpret_cast<uint64_t*>(memory_.get());
  return std::atomic_ref(words[n]).load(std::memory_order_acquire);
}

// ---- handshakes ---------------------------------------------------------------------------------

int Handshake::send(nagaya_process to, const nagaya_envelope& envelope, const ChannelEnd& own) {
  if (is_send_started_) return 0;
  own_ = own;
  sent_ = {};
  sent_.to = to;
  sent_.envelope = envelope;
  sent_.is_control = 1;
  sent_.data = &own_;
  sent_.bytes = sizeof own_;
  const int error = nagaya_match_send(&sent_);
  is_send_started_ = error == 0;
  return error;
}

int Handshake::receive(nagaya_process from, const nagaya_envelope& envelope, size_t bytes) {
  if (is_receive_started_) return 0;
  bytes_ = bytes;
  received_ = {};
  received_.wanted = envelope;
  received_.from = from;
  received_.buffer = &other_;
  received_.capacity = sizeof other_;
  const int error = nagaya_match_receive(&received_);
  is_receive_started_ = error == 0;
  return error;
}

int Handshake::is_other_known() {
  if (is_send_started_ && match::is_complete(sent_) && sent_.error != 0) return sent_.error;
  if (!is_receive_started_) return 1;
  if (!match::is_complete(received_)) return 0;
  if (received_.error != 0) return received_.error;
  return received_.bytes == sizeof other_ && other_.is_of(received_.from, bytes_) ? 1 : -EPROTO;
}

bool Handshake::has_no_pending_messages() {
  return (!is_send_started_ || match::is_complete(sent_)) &&
         (!is_receive_started_ || match::is_complete(received_));
}

// ---- the reader's end ---------------------------------------------------------------------------

ChannelReceiver::ChannelReceiver(size_t bytes, bool has_receipts)
    : stride_(mailbox::whole_lines(bytes)),
      has_receipts_(has_receipts),
      memory_(kWordsBytes + 2 * stride_) {}

int ChannelReceiver::open(const Members& members, uint32_t owner, uint32_t side) {
  if (const int error = memory_.share(); error != 0) return error;
  const nagaya_process process = members.process(owner);
  const ChannelEnd end{memory_.place(0), memory_.place(kWordsBytes), stride_};
  // Sender and receiver of a channel use the same side. Their envelopes do not collide with those
  // of the channel the other way: receipts exist only where there is none.
  const int error = handshake_.send(process, members.envelope(members.rank(), side), end);
  if (error != 0 || !has_receipts_) return error;
  return handshake_.receive(process, members.envelope(owner, side), 0);
}

bool ChannelReceiver::has_arrived(uint64_t exchange) const {
  return memory_.word(exchange % 2) > exchange / 2;
}

const std::byte* ChannelReceiver::landing(uint64_t exchange) const {
  return memory_.at(kWordsBytes + exchange % 2 * stride_);
}

int ChannelReceiver::try_take(uint64_t exchange, const layout::StridedCopy& box, std::byte* to) {
  const int is_known = handshake_.is_other_known();
  if (is_known != 1) return is_known;
  if (!has_arrived(exchange)) return 0;
  if (unpacked_ == exchange) {
    box.unpack_to(to, landing(exchange));
    ++unpacked_;
  }
  return has_receipts_ ? try_send_receipt() : 1;
}

int ChannelReceiver::try_send_receipt() {
  if (const int32_t last = state_of(receipt_); last != 1) return last;
  receipt_ = 0;
  const int is_sent = is_accepted(
      nagaya_llcl_try_add_word(&handshake_.other_end().words, 1, nagaya_flag(&receipt_)));
  if (is_sent != 1) receipt_ = 1;
  return is_sent;
}

bool ChannelReceiver::has_no_pending_requests() {
  return state_of(receipt_) != 0 && handshake_.has_no_pending_messages();
}

int ChannelReceiver::error() {
  return std::min(state_of(receipt_), 0);
}

// ---- the owner's end ----------------------------------------------------------------------------

ChannelSender::ChannelSender(size_t bytes, bool has_receipts)
    : has_receipts_(has_receipts), memory_(kWordsBytes) {
  for (std::vector<std::byte>& one : packed_) one.resize(bytes);
}

int ChannelSender::open(const Members& members, uint32_t reader, uint32_t side) {
  const nagaya_process process = members.process(reader);
  const int error = handshake_.receive(process, members.envelope(reader, side), packed_[0].size());
  if (error != 0 || !has_receipts_) return error;
  if (const int failure = memory_.share(); failure != 0) return failure;
  return handshake_.send(process, members.envelope(members.rank(), side),
                         {memory_.place(0), {}, 0});
}

int ChannelSender::may_write(uint64_t exchange) {
  const int is_known = handshake_.is_other_known();
  if (is_known != 1) return is_known;
  if (has_receipts_ && memory_.word(0) + 1 < exchange) return 0;
  return state_of(written_[exchange % 2]);
}

int ChannelSender::try_write(uint64_t exchange, const layout::StridedCopy& box,
                             const std::byte* from) {
  if (const int may = may_write(exchange); may != 1) return may;
  const size_t side = exchange % 2;
  if (packs_ == exchange) {
    box.pack_from(packed_[side].data(), from);
    ++packs_;
  }
  const ChannelEnd& end = handshake_.other_end();
  written_[side] = 0;
  const nagaya_llcl_transfer transfer{end.landing_of(side), packed_[side].data(),
                                      packed_[side].size(), nagaya_flag(&written_[side])};
  const nagaya_remote arrived = end.word_of(side);
  const int is_written = is_accepted(nagaya_llcl_try_write_notify(&transfer, &arrived));
  if (is_written == 1)
    ++writes_;
  else
    written_[side] = 1;
  return is_written;
}

bool ChannelSender::has_no_pending_requests() {
  const int32_t state[] = {state_of(written_[0]), state_of(written_[1])};
  const uint64_t failed = (state[0] < 0 ? 1 : 0) + (state[1] < 0 ? 1 : 0);
  const bool are_receipts_here = !has_receipts_ || memory_.word(0) + failed == writes_;
  return state[0] != 0 && state[1] != 0 && are_receipts_here &&
         handshake_.has_no_pending_messages();
}

int ChannelSender::error() {
  return std::min({state_of(written_[0]), state_of(written_[1]), 0});
}

}  // namespace nagaya::array
