// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/spin_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace nagaya::task {
namespace {

TEST(SpinLock, LetsOneThreadInAtATime) {
  SpinLock lock;
  long count = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const std::lock_guard<SpinLock> guard(lock);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80000);
}

}  // namespace
}  // namespace nagaya::task
