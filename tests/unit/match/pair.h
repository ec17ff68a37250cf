// SPDX-License-Identifier: BSD-3-Clause
// pair.h - tasks that send messages to each other, on one node or on two, all in the test's own
// process.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "match/matcher.h"
#include "match/wire.h"

namespace nagaya::match {

class Pair : public testing::Test {
 protected:
  static constexpr size_t kEagerMax = 4096;
  static constexpr uint32_t kTasks = 2;

  // Both tasks are on one node, or each on one of its own.
  explicit Pair(uint32_t nodes = 1, bool threads = false) : nodes_(nodes) {
    for (uint32_t task = 0; task < kTasks; ++task) {
      const nagaya_process own = process(task);
      const mailbox::Owner owner = mailbox::Owner::task(own.task, 1);
      llcl::Board& board = nodes_.board(own.node);
      board.attached[own.task] = owner.bits;
      wires_.push_back(std::make_unique<Wire>(nodes_, own, owner));
      llcl::Wait& waits = *waits_.emplace_back(std::make_unique<llcl::Wait>(board, owner));
      if (threads) waits.begin_polls(&board.lane_waiters[own.task]);
      if (threads) waits.enable_threads();
      llcl::Port& port = *ports_.emplace_back(
          std::make_unique<llcl::Port>(board, owner, kEagerMax, waits, *wires_.back()));
      llcl::Pulls& pulls =
          *pulls_.emplace_back(std::make_unique<llcl::Pulls>(board, owner, *wires_.back()));
      matchers_.push_back(std::make_unique<Matcher>(port, pulls, waits, threads));
    }
  }

  nagaya_process process(uint32_t task) const {
    return {task % nodes_.count(), task / nodes_.count()};
  }
  Matcher& task(uint32_t number) { return *matchers_[number]; }
  llcl::Wait& waits_of(uint32_t task) { return *waits_[task]; }
  using OnError = llcl::Wait::OnError;
  // A wait of that task.
  template <class IsOver>
  int wait(uint32_t task, IsOver is_over, uint64_t deadline_ns = mailbox::kNever,
           OnError on_error = OnError::kWaitOn) {
    return waits_of(task).until(
        llcl::Purpose::kMessage, is_over, deadline_ns, nullptr, [] {}, on_error);
  }
  llcl::Board& board() { return nodes_.board(0); }
  Wire& wire_of(uint32_t task) { return *wires_[task]; }
  void progress() {
    while (wire_of(0).carry() + wire_of(1).carry() + task(0).progress() + task(1).progress() != 0)
      for (uint32_t node = 0; node < nodes_.count(); ++node) nodes_.delegatee(node).post_late();
  }

  nagaya_send send_of(const std::vector<int>& data, const Envelope& envelope, uint32_t to = 1) {
    nagaya_send send{};
    send.to = process(to);
    send.envelope = envelope;
    send.data = data.data();
    send.bytes = data.size() * sizeof(int);
    return send;
  }
  static nagaya_receive receive_of(std::vector<int>& buffer, const Envelope& wanted) {
    nagaya_receive receive{};
    receive.wanted = wanted;
    receive.from = {UINT32_MAX, UINT32_MAX};
    receive.buffer = buffer.data();
    receive.capacity = buffer.size() * sizeof(int);
    return receive;
  }
  static std::vector<int> numbers(size_t count, int first) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  Nodes nodes_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::unique_ptr<llcl::Wait>> waits_;
  std::vector<std::unique_ptr<llcl::Port>> ports_;
  std::vector<std::unique_ptr<llcl::Pulls>> pulls_;
  std::vector<std::unique_ptr<Matcher>> matchers_;
};

}  // namespace nagaya::match
