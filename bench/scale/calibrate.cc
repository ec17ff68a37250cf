// SPDX-License-Identifier: BSD-3-Clause
// calibrate.cc - the figures of description.h that two processors of this machine show. One thread
// writes lines, then the other one times what it does with them. The least of all rounds counts, so
// that a busy machine adds little.
//
//   transfer_ns   lines of the other core, each with the address of the next one
//   polls_ns      the same, but the addresses are known: as a member polls the lines of others
//   flag_ns       from a store to a line that the other polls, to the other's next store; half of
//                 the way there and back
//   share_ns      a line of short copies, to lines that the other has loaded
//   stream_ns     a line of a copy from the other core's cache; push_ns: from the own cache to
//   lines
//                 that the other has written; own_stream_ns: within the own cache
//   reduce_ns     a line of numbers that are added, in the own cache
//   yield_ns      sched_yield among threads of one core
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "machine.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLines = 512, kLineBytes = 64, kBytes = kLines * kLineBytes;
// Lines are visited in an order that prefetchers do not guess.
constexpr size_t kStride = 131;

struct alignas(kLineBytes) Line {
  std::atomic<uint64_t> number;
  Line* next;
  uint64_t rest[6];
};

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Two threads on processors of their own, which take turns.
class Pair {
 public:
  // Returns the least time of `reader`, which follows on `writer`, over all rounds [ns].
  double least_ns(int rounds, const std::function<void(uint64_t)>& writer,
                  const std::function<void(uint64_t)>& reader) {
    turn_.store(0);
    std::thread other([&] {
      bind_to(usable_processors().back());
      for (uint64_t n = 0; n < static_cast<uint64_t>(rounds); ++n) {
        await(2 * n);
        writer(n + 1);
        turn_.store(2 * n + 1, std::memory_order_release);  // pairs with await
      }
    });
    bind_to(usable_processors().front());
    double least_ns = 1e30;
    for (uint64_t n = 0; n < static_cast<uint64_t>(rounds); ++n) {
      await(2 * n + 1);
      const auto start = Clock::now();
      reader(n + 1);
      least_ns = std::min(least_ns, ns_since(start));
      turn_.store(2 * n + 2, std::memory_order_release);  // pairs with await
    }
    other.join();
    return least_ns;
  }

 private:
  // Yields: threads of real-time priority that spin would not let each other start.
  void await(uint64_t turn) const {
    while (turn_.load(std::memory_order_acquire) != turn) ::sched_yield();
  }
  std::atomic<uint64_t> turn_{0};
};

// Each thread stores to a line of its own, and polls the other's.
double flag_ns(uint64_t turns) {
  struct alignas(2 * kLineBytes) Flag {
    std::atomic<uint64_t> turn{0};
  };
  Flag mine, others;
  std::atomic<bool> is_ready{false};
  std::thread other([&] {
    bind_to(usable_processors().back());
    is_ready.store(true);
    for (uint64_t n = 1; n <= turns; ++n) {
      while (mine.turn.load(std::memory_order_acquire) != n) {  // pairs with the store below
      }
      others.turn.store(n, std::memory_order_release);
    }
  });
  while (!is_ready.load()) ::sched_yield();
  bind_to(usable_processors().front());
  const auto start = Clock::now();
  for (uint64_t n = 1; n <= turns; ++n) {
    mine.turn.store(n, std::memory_order_release);
    while (others.turn.load(std::memory_order_acquire) != n) {  // pairs with the store above
    }
  }
  const double taken_ns = ns_since(start);
  other.join();
  return taken_ns / static_cast<double>(2 * turns);
}

double yield_ns(int turns) {
  constexpr int kThreads = 8;
  std::atomic<int> turn{0};
  std::vector<std::thread> all;
  const auto start = Clock::now();
  for (int self = 0; self < kThreads; ++self)
    all.emplace_back([&, self] {
      bind_to(usable_processors().front());
      for (int mine = self; mine < turns; mine += kThreads) {
        while (turn.load(std::memory_order_acquire) != mine) ::sched_yield();  // pairs with store
        turn.store(mine + 1, std::memory_order_release);
      }
    });
  for (std::thread& thread : all) thread.join();
  return ns_since(start) / turns;
}

Result measure_all(const Options& options) {
  const int rounds = options.quick ? 20 : 2000;
  const auto lines = std::make_unique<Line[]>(kLines);
  const auto copy = std::make_unique<Line[]>(kLines);
  for (size_t n = 0; n < kLines; ++n)
    lines[n * kStride % kLines].next = &lines[(n + 1) * kStride % kLines];
  Pair pair;
  const auto write = [&](uint64_t number) {
    for (size_t n = 0; n < kLines; ++n) lines[n].number.store(number, std::memory_order_relaxed);
  };
  uint64_t wrong = 0;
  Result result{.program = "calibrate", .quick = options.quick, .figures = {}, .derived = {}};
  const auto add = [&](const char* name, const char* title, double ns) {
    result.figures.push_back({name, title, "ns", {"this machine", {ns}}, {}, {}});
  };
  add("transfer_ns", "a line of the other core, by the address in the last one",
      pair.least_ns(rounds, write, [&](uint64_t number) {
        const Line* line = &lines[0];
        for (size_t n = 0; n < kLines; ++n, line = line->next)
          wrong += line->number.load(std::memory_order_acquire) != number;
      }) / kLines);
  add("polls_ns", "the same, by known addresses",
      pair.least_ns(rounds, write, [&](uint64_t number) {
        for (size_t n = 0; n < kLines; ++n)
          wrong += lines[n * kStride % kLines].number.load(std::memory_order_acquire) != number;
      }) / kLines);
  const auto copy_all = [&](uint64_t) {
    std::memcpy(static_cast<void*>(copy.get()), lines.get(), kBytes);
  };
  double least_flag_ns = 1e30;
  for (int round = 0; round < rounds / 20; ++round)
    least_flag_ns = std::min(least_flag_ns, flag_ns(500));
  add("flag_ns", "a flag to the other core", least_flag_ns);
  add("push_ns", "a line of a copy to lines of the other core",
      pair.least_ns(
          rounds,
          [&](uint64_t number) {
            for (size_t n = 0; n < kLines; ++n)
              copy[n].number.store(number, std::memory_order_relaxed);
          },
          copy_all) /
          kLines);
  add("share_ns", "a line of short copies to lines that the other core has loaded",
      pair.least_ns(
          rounds,
          [&](uint64_t) {
            for (size_t n = 0; n < kLines; ++n)
              wrong += copy[n].number.load(std::memory_order_relaxed) == UINT64_MAX;
          },
          [&](uint64_t) {
            constexpr size_t kShort = 16;  // lines
            for (size_t n = 0; n < kLines; n += kShort)
              std::memcpy(static_cast<void*>(&copy[n]), &lines[n], kShort * kLineBytes);
            std::atomic_thread_fence(std::memory_order_seq_cst);
          }) /
          kLines);
  add("stream_ns", "a line of a copy from the other core",
      pair.least_ns(rounds, write, copy_all) / kLines);
  add("own_stream_ns", "a line of a copy in the own cache",
      pair.least_ns(
          rounds, [](uint64_t) {}, copy_all) /
          kLines);
  add("reduce_ns", "a line of numbers, added",
      pair.least_ns(
          rounds, [](uint64_t) {},
          [&](uint64_t) {
            const auto* const from = reinterpret_cast<const uint64_t*>(&lines[0]);
            auto* const to = reinterpret_cast<uint64_t*>(&copy[0]);
            for (size_t n = 0; n < kBytes / sizeof *to; ++n) to[n] += from[n];
          }) /
          kLines);
  add("yield_ns", "sched_yield among threads of one core", yield_ns(options.quick ? 800 : 80000));
  if (wrong != 0 || options.corrupt) throw std::runtime_error("a line was out of order");
  return result;
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("Figures of this machine for the model of a node.", "calibrate", options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}
