// SPDX-License-Identifier: BSD-3-Clause
#include "array/channel.h"

#include <errno.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "mailbox/machine.h"

namespace nagaya::array {
namespace {

constexpr size_t kWordsBytes = mailbox::kLineBytes;  // before the landings

size_t whole_lines(size_t bytes) {
  return (bytes + mailbox::kLineBytes - 1) / mailbox::kLineBytes * mailbox::kLineBytes;
}

nagaya_remote with_offset(nagaya_remote place, uint64_t bytes) {
  place.offset += bytes;
  return place;
}

// The lane that is full empties by itself: its node's delegatee takes the commands.
template <class Request>
int until_accepted(Request request) {
  int error;
  while ((error = request()) == -EAGAIN) continue;
  return error;
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

// ---- greetings ----------------------------------------------------------------------------------

int Greeting::send(nagaya_process to, const nagaya_envelope& envelope, const ChannelEnd& own) {
  own_ = own;
  sent_ = {};
  sent_.to = to;
  sent_.envelope = envelope;
  sent_.data = &own_;
  sent_.bytes = sizeof own_;
  is_sent_ = true;
  return nagaya_match_send(&sent_);
}

int Greeting::receive(nagaya_process from, const nagaya_envelope& envelope) {
  received_ = {};
  received_.wanted = envelope;
  received_.from = from;
  received_.buffer = &other_;
  received_.capacity = sizeof other_;
  is_asked_for_ = true;
  return nagaya_match_receive(&received_);
}

bool Greeting::is_known() {
  return is_asked_for_ && array::is_over(received_) && received_.error == 0;
}

bool Greeting::is_over() {
  return (!is_sent_ || array::is_over(sent_)) && (!is_asked_for_ || array::is_over(received_));
}

// ---- the reader's end ---------------------------------------------------------------------------

Inlet::Inlet(size_t bytes, bool has_receipts)
    : stride_(whole_lines(bytes)),
      has_receipts_(has_receipts),
      memory_(kWordsBytes + 2 * stride_) {}

int Inlet::open(const Members& members, uint32_t owner, uint32_t side) {
  if (const int error = memory_.share(); error != 0) return error;
  const nagaya_process process = members.process(owner);
  const ChannelEnd end{memory_.place(0), memory_.place(kWordsBytes), stride_};
  const int error = greeting_.send(process, members.envelope(members.rank(), side), end);
  if (error != 0 || !has_receipts_) return error;
  return greeting_.receive(process, members.envelope(owner, side));
}

bool Inlet::has_arrived(uint64_t exchange) const {
  return memory_.word(exchange % 2) > exchange / 2;
}

const std::byte* Inlet::landing(uint64_t exchange) const {
  return memory_.at(kWordsBytes + exchange % 2 * stride_);
}

int Inlet::take() {
  if (has_receipts_) ++owed_;
  return send_receipts();
}

int Inlet::send_receipts() {
  if (owed_ == 0 || !greeting_.is_known()) return 0;
  const int error = until_accepted([&] {
    return nagaya_llcl_try_add_word(&greeting_.other().words, owed_,
                                    {NAGAYA_NONE, nullptr, nullptr});
  });
  owed_ = 0;
  return error;
}

// ---- the owner's end ----------------------------------------------------------------------------

Outlet::Outlet(size_t bytes, bool has_receipts)
    : has_receipts_(has_receipts), memory_(kWordsBytes) {
  for (std::vector<std::byte>& one : packed_) one.resize(bytes);
}

int Outlet::open(const Members& members, uint32_t reader, uint32_t side) {
  const nagaya_process process = members.process(reader);
  const int error = greeting_.receive(process, members.envelope(reader, side));
  if (error != 0 || !has_receipts_) return error;
  if (const int failure = memory_.share(); failure != 0) return failure;
  return greeting_.send(process, members.envelope(members.rank(), side), {memory_.place(0), {}, 0});
}

bool Outlet::may_write(uint64_t exchange) {
  if (!greeting_.is_known()) return false;
  if (has_receipts_ && memory_.word(0) + 1 < exchange) return false;
  return std::atomic_ref(written_[exchange % 2]).load(std::memory_order_acquire) != 0;
}

int Outlet::try_write(uint64_t exchange, const StridedCopy& box, const std::byte* from) {
  if (!may_write(exchange)) return 0;
  const size_t side = exchange % 2;
  const auto earlier = static_cast<int32_t>(written_[side]);
  if (earlier < 0) return earlier;
  box.pack_from(packed_[side].data(), from);
  const ChannelEnd& end = greeting_.other();
  written_[side] = 0;
  const nagaya_llcl_transfer transfer{with_offset(end.landing, side * end.stride),
                                      packed_[side].data(), packed_[side].size(),
                                      nagaya_flag(&written_[side])};
  const nagaya_remote arrived = with_offset(end.words, side * sizeof(uint64_t));
  const int error =
      until_accepted([&] { return nagaya_llcl_try_write_notify(&transfer, &arrived); });
  if (error != 0) {
    written_[side] = 1;
    return error;
  }
  ++writes_;
  return 1;
}

bool Outlet::is_quiet() {
  const auto is_over = [](uint32_t& flag) {
    return std::atomic_ref(flag).load(std::memory_order_acquire) != 0;
  };
  const bool are_receipts_here = !has_receipts_ || memory_.word(0) == writes_;
  return is_over(written_[0]) && is_over(written_[1]) && are_receipts_here && greeting_.is_over();
}

}  // namespace nagaya::array
