// SPDX-License-Identifier: BSD-3-Clause
// cache_line.cc - a message of one word between two cores, the cheapest possible message.
//
//   one line    both threads write the same line in turn: the line moves once per message
//   two lines   each thread writes a line of its own and reads the other's: as a mailbox with a
//               cell and a separate acknowledgement does
//
// The word is a sequence number; a receiver checks each. The time of a message is half a round
// trip.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "machine.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Lines {
  alignas(128) std::atomic<uint64_t> ping{0};  // 128: neighbours of a line are prefetched in pairs
  alignas(128) std::atomic<uint64_t> pong{0};
};

void await(const std::atomic<uint64_t>& word, uint64_t value) {
  while (word.load(std::memory_order_acquire) < value) {
  }
}

// Each await (acquire) pairs with the release store of the other thread.
void answer(std::atomic<uint64_t>& ping, std::atomic<uint64_t>& pong, uint64_t step,
            uint64_t last) {
  for (uint64_t n = 1; n <= last; n += step) {
    await(ping, n);
    pong.store(n + (&ping == &pong ? 1 : 0), std::memory_order_release);
  }
}

double one_way_ns(std::atomic<uint64_t>& ping, std::atomic<uint64_t>& pong, uint64_t round_trips,
                  bool corrupt) {
  const bool one_line = &ping == &pong;
  const uint64_t step = one_line ? 2 : 1;  // on one line, the answer is the next number
  const uint64_t last = round_trips * step;
  const auto processors = usable_processors();
  std::thread partner([&] {
    bind_to(processors.back());
    answer(ping, pong, step, last);
  });
  bind_to(processors.front());
  bool right = true;
  const auto start = Clock::now();
  for (uint64_t n = 1; n <= last; n += step) {
    ping.store(n, std::memory_order_release);
    await(pong, n + (one_line ? 1 : 0));
    right &= pong.load(std::memory_order_relaxed) == n + (one_line ? 1 : 0);
  }
  const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
  partner.join();
  if (!right || corrupt) throw std::runtime_error("a message arrived out of order");
  return taken.count() / static_cast<double>(2 * round_trips);
}

Result measure_all(const Options& options) {
  const int rounds = options.rounds_or(25, 2);
  const uint64_t round_trips = options.quick ? 1000 : 200000;
  Figure one{"floor_cache_line_one",
             "One word there and back on one cache line",
             "ns one way",
             {"two threads", {}},
             {},
             {}};
  Figure two{"floor_cache_line_two",
             "One word each way, a cache line per direction",
             "ns one way",
             {"two threads", {}},
             {},
             {}};
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("cache line: round {} of {}", round + 1, rounds));
    Lines lines;
    one.subject.rounds.push_back(one_way_ns(lines.ping, lines.ping, round_trips, options.corrupt));
    Lines others;
    two.subject.rounds.push_back(
        one_way_ns(others.ping, others.pong, round_trips, options.corrupt));
  }
  return {.program = "cache-line", .quick = options.quick, .figures = {one, two}, .derived = {}};
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("One word between two cores.", "cache-line", options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}
