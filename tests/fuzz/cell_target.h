// SPDX-License-Identifier: BSD-3-Clause
// cell_target.h - a task's matcher hears any two-sided messages from processes of another node, by
// way of the real board, between calls of its own program. Its buffers have exactly the size that
// it says, and its sends complete once.
//
//   input: | what, 1 | argument, 1 | bytes, 2 | payload of a message |  ...
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "delegatee/board_node.h"
#include "match/matcher.h"

namespace nagaya::fuzz {

using namespace nagaya::match;

// Takes everything. Reads bring zeros at once.
class WireToNobody final : public llcl::RemoteNodes {
 public:
  bool has(nagaya_process process) const override { return process.node < 2; }
  int send(nagaya_process, uint8_t, const std::byte*, size_t, size_t,
           std::atomic<uint32_t>* done) override {
    if (done != nullptr) done->store(1);
    return 0;
  }
  bool has_backlog(nagaya_process) const override { return false; }
  int share(const void*, size_t, uint32_t& region) override {
    region = 1;
    return 0;
  }
  void unshare(uint32_t) override {}
  int read(nagaya_process, uint32_t, uint64_t, void* to, size_t bytes,
           std::atomic<uint32_t>& done) override {
    std::memset(to, 0, bytes);
    done.store(1);
    return 0;
  }
  int read_pieces(nagaya_process, uint32_t, std::span<const nagaya_llcl_piece> pieces,
                  std::atomic<uint32_t>& done) override {
    for (const nagaya_llcl_piece& piece : pieces)
      for (uint64_t n = 0; n < piece.count; ++n)
        std::memset(
            static_cast<std::byte*>(piece.local) + static_cast<int64_t>(n) * piece.local_stride, 0,
            piece.block_bytes);
    done.store(1);
    return 0;
  }
};

class HearingTask {
 public:
  static constexpr nagaya_process kOther = {1, 0};

  HearingTask()
      : memory_(llcl::create_board(space_with(2))),
        board_(*static_cast<llcl::Board*>(space_.upper_floors)),
        node_(board_),
        waits_(board_, kSelf),
        port_(board_, kSelf, kEagerMax, waits_, wire_),
        pulls_(board_, kSelf, wire_),
        matcher_(port_, pulls_, waits_, false) {
    board_.nodes = 2;
    board_.attached[0] = kSelf.bits;
  }

  void hear(uint8_t kind, uint8_t source, const std::byte* message, size_t bytes) {
    node_.deliver(
        {0, llcl::kPortHandlers + uint32_t{kind}, kOther.node, source, bytes, 0, {message, bytes}});
  }
  void send(uint8_t argument) {
    Send& send = sends_.emplace_back();
    send.data = std::make_unique<std::byte[]>(kLongBytes);
    send.request.to = {kOther.node, argument % 4u};
    send.request.envelope = {0, 0, argument % 8};
    send.request.data = send.data.get();
    send.request.bytes = argument % 2 == 0 ? kLongBytes : 8;
    send.request.is_synchronous = argument % 3 == 0;
    send.runs = {send.data.get(), 4, kLongBytes / 4, 4};
    if (argument % 7 == 0) send.request.runs = &send.runs;
    send.request.complete = [](nagaya_send* request) {
      if (++reinterpret_cast<Send*>(request)->completions > 1) std::abort();
    };
    matcher_.send(send.request);
  }
  void cancel(uint8_t argument) {
    if (sends_.empty()) return;
    Send& send = sends_[argument % sends_.size()];
    if (send.completions == 0) matcher_.cancel(send.request);
  }
  void receive(uint8_t argument) {
    Receive& receive = receives_.emplace_back();
    const size_t bytes = size_t{argument} * 7;
    const bool has_runs = argument % 5 == 1;
    receive.data = std::make_unique<std::byte[]>(has_runs ? 2 * bytes : bytes);
    receive.runs = {receive.data.get(), 7, argument, 14};
    if (has_runs) receive.request.runs = &receive.runs;
    receive.request.wanted = {0, argument % 2 == 0 ? NAGAYA_ANY_SOURCE : 0,
                              argument % 3 == 0 ? NAGAYA_ANY_TAG : argument % 8};
    receive.request.from = {UINT32_MAX, UINT32_MAX};
    receive.request.buffer = receive.data.get();
    receive.request.capacity = bytes;
    matcher_.receive(receive.request);
  }
  void take(uint8_t argument) {
    nagaya_message_description found;
    nagaya_message* message = nullptr;
    const Envelope wanted = {0, NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG};
    if (matcher_.take(wanted, &found, &message) != 0) return;
    Receive& receive = receives_.emplace_back();
    receive.data = std::make_unique<std::byte[]>(argument);
    receive.request.buffer = receive.data.get();
    receive.request.capacity = argument;
    matcher_.receive_taken(message, receive.request);
  }
  void drop() { matcher_.drop(0); }
  void progress() {
    while (matcher_.progress() > 0) continue;
    node_.post_late();
  }

 private:
  static constexpr mailbox::Owner kSelf = mailbox::Owner::task(0, 1);
  static constexpr size_t kEagerMax = 64, kLongBytes = 5000;

  struct Send {
    nagaya_send request{};  // first: its functions get its address
    nagaya_runs runs;
    int completions = 0;
    std::unique_ptr<std::byte[]> data;
  };
  struct Receive {
    nagaya_receive request{};
    nagaya_runs runs;
    std::unique_ptr<std::byte[]> data;
  };

  task::SpaceHeader& space_with(uint32_t capacity) {
    space_.capacity = capacity;
    return space_;
  }

  task::SpaceHeader space_{};
  base::Mapping memory_;
  llcl::Board& board_;
  delegatee::BoardNode node_;
  WireToNobody wire_;
  std::deque<Send> sends_;  // they stay where they are
  std::deque<Receive> receives_;
  llcl::Wait waits_;
  llcl::Port port_;
  llcl::Pulls pulls_;
  Matcher matcher_;
};

inline void hear_cells(const uint8_t* data, size_t bytes) {
  HearingTask task;
  for (size_t at = 0; bytes - at >= 4;) {
    const uint8_t what = data[at] % 16, argument = data[at + 1];
    const size_t length = data[at + 2] | size_t{data[at + 3]} << 8;
    at += 4;
    if (what < 10) {  // a message of that kind; a number above the last one is no kind
      const size_t part = std::min(length, bytes - at);
      task.hear(what, argument % 2, reinterpret_cast<const std::byte*>(data + at), part);
      at += part;
    }
    if (what == 10) task.send(argument);
    if (what == 11) task.cancel(argument);
    if (what == 12) task.receive(argument);
    if (what == 13) task.take(argument);
    if (what == 14) task.drop();
    if (what == 15 || argument % 4 == 0) task.progress();
  }
  task.progress();
}

}  // namespace nagaya::fuzz
