// SPDX-License-Identifier: BSD-3-Clause
// pair.h - tasks of one node that send messages to each other, all in the test's own process.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "match/matcher.h"

namespace nagaya::match {

class Pair : public testing::Test {
 protected:
  static constexpr size_t kEagerMax = 4096;
  static constexpr uint32_t kTasks = 2;

  explicit Pair(bool threads = false) {
    space_.capacity = kTasks;
    memory_ = llcl::create_board(space_);
    board_ = static_cast<llcl::Board*>(space_.upper_floors);
    for (uint32_t task = 0; task < kTasks; ++task) {
      const mailbox::Owner owner = mailbox::Owner::task(task, 1);
      board_->attached[task] = owner.bits;
      matchers_.push_back(std::make_unique<Matcher>(*board_, owner, kEagerMax, threads, nullptr));
    }
  }

  Matcher& task(uint32_t number) { return *matchers_[number]; }
  void progress() {
    while (task(0).progress() + task(1).progress() != 0) continue;
  }

  static nagaya_send send_of(const std::vector<int>& data, const Envelope& envelope,
                             uint32_t to = 1) {
    nagaya_send send{};
    send.to = {0, to};
    send.envelope = envelope;
    send.data = data.data();
    send.bytes = data.size() * sizeof(int);
    return send;
  }
  static nagaya_receive receive_of(std::vector<int>& buffer, const Envelope& wanted) {
    nagaya_receive receive{};
    receive.wanted = wanted;
    receive.buffer = buffer.data();
    receive.capacity = buffer.size() * sizeof(int);
    return receive;
  }
  static std::vector<int> numbers(size_t count, int first) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  task::SpaceHeader space_{};
  base::Mapping memory_;
  llcl::Board* board_;
  std::vector<std::unique_ptr<Matcher>> matchers_;
};

}  // namespace nagaya::match
