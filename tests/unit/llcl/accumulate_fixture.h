// SPDX-License-Identifier: BSD-3-Clause
// accumulate_fixture.h - a board with four tasks, in whose names the test accumulates.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <numeric>
#include <thread>
#include <vector>

#include "llcl/board/accumulate.h"
#include "own_board.h"

namespace nagaya::llcl {

inline constexpr size_t kBlockBytes = Stripes::kBlockBytes;

inline mailbox::Owner task(uint32_t number) {
  return mailbox::Owner::task(number, 1);
}

class AccumulateTest : public testing::Test {
 protected:
  AccumulateTest() {
    for (uint32_t number = 0; number < kTasks; ++number)
      board().attached[number] = task(number).bits;
  }
  Board& board() { return *board_; }
  int accumulate(const nagaya_llcl_accumulation& what, uint32_t number = 1) {
    return llcl::accumulate(board(), task(number), what);
  }
  // Adds to int64_t elements; `runs` may be nullptr.
  int add(void* target, const nagaya_runs* runs, const std::vector<int64_t>& values,
          int64_t* before = nullptr, uint32_t number = 1) {
    return accumulate({NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, values.size(), target, runs,
                       values.data(), before},
                      number);
  }
  // Calls work(task) by several threads at once, each in the name of a task of its own.
  template <class Work>
  static void by_tasks(Work work) {
    std::barrier start(kTasks);
    std::vector<std::jthread> threads;
    for (uint32_t number = 0; number < kTasks; ++number)
      threads.emplace_back([&, number] {
        start.arrive_and_wait();
        work(number);
      });
  }
  bool is_free(const void* address) { return board().stripes->holder_for(address).load() == 0; }

  static constexpr uint32_t kTasks = 4;
  OwnBoard board_{kTasks};
};

inline std::vector<int64_t> values_from(int64_t first, size_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace nagaya::llcl
