// SPDX-License-Identifier: BSD-3-Clause
// exceptions.cc - exceptions thrown and caught across the boundary of a shared library, in threads;
// destructors of thread_local objects run at the end of each thread, static ones at exit.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "thrower.h"

namespace {

std::atomic<int> caught{0}, ended{0};

struct Ending {
  ~Ending() { ended.fetch_add(1, std::memory_order_relaxed); }
  int used = 0;
};

struct AtExit {
  ~AtExit() { std::printf("static destructor\n"); }
} at_exit;

thread_local Ending ending;

int out_of_range(int index) {
  return std::vector<int>(3).at(static_cast<size_t>(index));
}

void throw_and_catch(int count) {
  ending.used = count;
  for (int n = 0; n < count; ++n) {
    try {
      thrower::throw_refusal(n);
    } catch (const thrower::Refusal& refusal) {
      caught += refusal.code == n ? 1 : 0;
    }
    caught += thrower::call(out_of_range, 5) == -1 ? 1 : 0;
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) threads.emplace_back(throw_and_catch, 100);
  for (std::thread& thread : threads) thread.join();
  std::printf("caught %d ended %d\n", caught.load(), ended.load());
  return 0;
}
