// SPDX-License-Identifier: BSD-3-Clause
// members.h - the members of windows, all in the test's own process. A test polls them in a random
// order, or gives each a thread.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "llcl/board/board.h"
#include "task/handmade_space.h"
#include "window/window.h"

namespace nagaya::window {

// The handles of one window, by rank.
using Handles = std::vector<std::unique_ptr<Window>>;

class Members {
 public:
  explicit Members(uint32_t size) : space_(256, size), board_(llcl::create_board(space_.header())) {
    for (uint32_t rank = 0; rank < size; ++rank) {
      tasks_.push_back(size - 1 - rank);
      board().attached[rank] = mailbox::Owner::task(rank, 1).bits;
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(tasks_.size()); }
  llcl::Board& board() { return *static_cast<llcl::Board*>(space_.header().upper_floors); }
  task::TaskRecord& record(uint32_t rank) { return space_.task(tasks_[rank]); }
  const std::vector<uint32_t>& tasks() const { return tasks_; }
  uint32_t free_chunks() const { return space_.free_chunks(); }

  std::unique_ptr<Window> joined(uint32_t rank, uint64_t context) {
    auto window = std::make_unique<Window>(board(), record(rank), rank, size(), true);
    EXPECT_EQ(window->join(context, tasks_), 0);
    return window;
  }
  // Opens a window at all members, in a random order.
  Handles opened(const std::vector<nagaya_window_memory>& own, uint64_t context = 1) {
    Handles handles;
    for (uint32_t rank = 0; rank < size(); ++rank) handles.push_back(joined(rank, context));
    for (const uint32_t rank : in_random_order()) handles[rank]->announce(own[rank]);
    poll_all([&](uint32_t rank) { return handles[rank]->is_opened(); });
    return handles;
  }
  Handles opened(const nagaya_window_memory& own, uint64_t context = 1) {
    return opened(std::vector(size(), own), context);
  }

  std::vector<uint32_t> in_random_order() {
    std::vector<uint32_t> ranks(size());
    for (uint32_t n = 0; n < size(); ++n) ranks[n] = n;
    std::shuffle(ranks.begin(), ranks.end(), random);
    return ranks;
  }
  // Polls poll(rank) of all members in a random order, until each has returned true once.
  template <class Poll>
  void poll_all(Poll poll) {
    std::vector<uint32_t> left = in_random_order();
    for (uint32_t polls = 0; !left.empty(); ++polls) {
      ASSERT_LT(polls, 10'000'000u) << "they wait for each other";
      const size_t n = random() % left.size();
      if (poll(left[n])) left.erase(left.begin() + static_cast<ptrdiff_t>(n));
    }
  }
  // Runs each(rank) in a thread for every member.
  template <class Each>
  void run_threads(Each each) {
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < size(); ++rank) threads.emplace_back([=] { each(rank); });
    for (std::thread& thread : threads) thread.join();
  }

  std::mt19937 random{1};

 private:
  task::HandmadeSpace space_;
  base::Mapping board_;
  std::vector<uint32_t> tasks_;
};

template <class Poll>
void poll_until(Poll poll) {
  while (!poll()) ::sched_yield();
}

}  // namespace nagaya::window
