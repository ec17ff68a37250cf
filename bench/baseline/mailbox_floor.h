// SPDX-License-Identifier: BSD-3-Clause
// mailbox_floor.h - ping-pong of 8 bytes between two threads that are bound to a processor each,
// through any channels, and the two cheapest possible channels:
//
//   one line    8 bytes and a flag in one cache line per direction: the line is invalidated at the
//               receiver, then fetched by it. No message to a polling receiver can cost less
//   two lines   the 8 bytes in one line, the flag in another: a put and its notification
//
// (An answer on the very line of the question saves the invalidation: `cache-line` measures that. A
// queue cannot answer there.)
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "arch/arch.h"
#include "machine.h"

namespace nagaya::bench {

// Aligned to 128: the processor prefetches cache lines in pairs.
struct OneLine {
  alignas(128) std::atomic<uint64_t> flag{0};
  uint64_t data = 0;

  void send(uint64_t number) {
    data = number;
    flag.store(number, std::memory_order_release);  // pairs with receive
  }
  uint64_t receive(uint64_t number) {
    while (flag.load(std::memory_order_acquire) != number) arch::relax();
    return data;
  }
};

struct TwoLines {
  alignas(128) std::atomic<uint64_t> flag{0};
  alignas(128) uint64_t data = 0;

  void send(uint64_t number) {
    data = number;
    flag.store(number, std::memory_order_release);  // pairs with receive
  }
  uint64_t receive(uint64_t number) {
    while (flag.load(std::memory_order_acquire) != number) arch::relax();
    return data;
  }
};

// Returns the time of one message [ns]. The messages are 1, 2, 3 ... in each direction; both sides
// check each.
template <class Channel>
double one_way_ns(Channel& there, Channel& back, uint64_t round_trips, bool corrupt) {
  using Clock = std::chrono::steady_clock;
  const auto processors = usable_processors();
  std::atomic<bool> ready{false}, right{true};
  std::thread partner([&] {
    bind_to(processors.back());
    ready.store(true);
    for (uint64_t n = 1; n <= round_trips; ++n) {
      if (there.receive(n) != n) right.store(false, std::memory_order_relaxed);
      back.send(n);
    }
  });
  bind_to(processors.front());
  while (!ready.load()) std::this_thread::yield();
  const auto start = Clock::now();
  for (uint64_t n = 1; n <= round_trips; ++n) {
    there.send(n);
    if (back.receive(n) != n) right.store(false, std::memory_order_relaxed);
  }
  const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
  partner.join();
  if (!right.load() || corrupt) throw std::runtime_error("a message was lost or wrong");
  return taken.count() / static_cast<double>(2 * round_trips);
}

}  // namespace nagaya::bench
