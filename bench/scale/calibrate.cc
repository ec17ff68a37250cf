// SPDX-License-Identifier: BSD-3-Clause
// calibrate.cc - the figures of description.h that two processors of this machine show. One thread
// writes lines, then the other one times what it does with them. The median of all rounds counts:
// other work on the machine makes some rounds longer, and some shorter, because it drives the
// writer's lines into the cache that both share.
//
//   transfer_ns   lines of the other core, each with the address of the next one
//   polls_ns      the same, but the addresses are known: as a member polls the lines of others
//   flag_ns       from a store to a line that the other polls, to the other's next store; half of
//                 the way there and back
//   share_ns      a line of short copies, to lines that the other has loaded
//   short_ns      a line of copies of 1 KiB from the other core's cache, at scattered places
//   stream_ns     a line of a long copy from there; push_ns: from the own cache to lines that the
//                 other has written; own_stream_ns: within the own cache
//   reduce_ns     a line of numbers that are added, in the own cache
//   chain_SIZE    a line of so much memory, each with the address of the next one: the capacity of
//                 the shared cache, its latency and that of the memory
//   yield_ns      sched_yield among threads of one core
//
// Prefetchers fetch the neighbours of a line and the next line of an even walk. So lines that are
// loaded one by one lie apart, and are visited in a random order.
#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "machine.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLines = 1024, kLineBytes = 64, kBytes = kLines * kLineBytes;
constexpr size_t kApart = 9;        // lines from one to the next of those that lie apart
constexpr size_t kShortLines = 16;  // of a short copy

struct alignas(kLineBytes) Line {
  std::atomic<uint64_t> number;
  Line* next;
  uint64_t rest[6];
};

// Returns 0 ... count - 1 in a random order, the same one in each run.
std::vector<size_t> shuffled(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  return order;
}

// Lines that lie apart, each with the address of the next one in a random order.
class Chain {
 public:
  Chain(size_t lines, size_t apart)
      : apart_(apart), order_(shuffled(lines)), lines_(std::make_unique<Line[]>(lines * apart)) {
    for (size_t n = 0; n < lines; ++n) at(n).next = &at((n + 1) % lines);
  }
  size_t size() const { return order_.size(); }
  Line& at(size_t n) { return lines_[order_[n] * apart_]; }

 private:
  const size_t apart_;
  const std::vector<size_t> order_;
  const std::unique_ptr<Line[]> lines_;
};

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Two threads on processors of their own, which take turns.
class Pair {
 public:
  // Returns the median time of `reader`, which follows on `writer`, of all rounds [ns].
  double median_ns(int rounds, const std::function<void(uint64_t)>& writer,
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
    std::vector<double> all_ns;
    for (uint64_t n = 0; n < static_cast<uint64_t>(rounds); ++n) {
      await(2 * n + 1);
      const auto start = Clock::now();
      reader(n + 1);
      all_ns.push_back(ns_since(start));
      turn_.store(2 * n + 2, std::memory_order_release);  // pairs with await
    }
    other.join();
    return median(all_ns);
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

// A line of a chain through `bytes` of memory, which this thread has visited before.
double chain_ns(size_t bytes) {
  constexpr int kRounds = 9;
  constexpr size_t kVisits = 100'000;
  Chain chain(bytes / kLineBytes, 1);
  const Line* line = &chain.at(0);
  const auto visit = [&](size_t count) {
    for (size_t n = 0; n < count; ++n) line = line->next;
  };
  visit(chain.size());
  std::vector<double> all_ns;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    visit(kVisits);
    all_ns.push_back(ns_since(start) / kVisits);
  }
  if (line == nullptr) throw std::runtime_error("a chain has an end");
  return median(all_ns);
}

class Measurement {
 public:
  explicit Measurement(const Options& options)
      : options_(options),
        rounds_(options.quick ? 20 : 2000),
        result_{.program = "calibrate", .quick = options.quick, .figures = {}, .derived = {}} {}

  Result measure() {
    single_lines();
    flags();
    copies();
    memory();
    add("yield_ns", "sched_yield among threads of one core",
        yield_ns(options_.quick ? 800 : 80000));
    if (wrong_ != 0 || options_.corrupt) throw std::runtime_error("a line was out of order");
    return result_;
  }

 private:
  void add(const std::string& name, const std::string& title, double ns) {
    result_.figures.push_back({name, title, "ns", {"this machine", {ns}}, {}, {}});
  }
  // Adds what a line takes of the reader's time.
  void add(const char* name, const char* title, size_t lines,
           const std::function<void(uint64_t)>& writer,
           const std::function<void(uint64_t)>& reader) {
    add(name, title, pair_.median_ns(rounds_, writer, reader) / static_cast<double>(lines));
  }

  void single_lines() {
    Chain chain(kLines / 4, kApart);
    const auto write = [&](uint64_t number) {
      for (size_t n = 0; n < chain.size(); ++n)
        chain.at(n).number.store(number, std::memory_order_relaxed);
    };
    add("transfer_ns", "a line of the other core, by the address in the last one", chain.size(),
        write, [&](uint64_t number) {
          const Line* line = &chain.at(0);
          for (size_t n = 0; n < chain.size(); ++n, line = line->next)
            wrong_ += line->number.load(std::memory_order_acquire) != number;
        });
    add("polls_ns", "the same, by known addresses", chain.size(), write, [&](uint64_t number) {
      for (size_t n = 0; n < chain.size(); ++n)
        wrong_ += chain.at(n).number.load(std::memory_order_acquire) != number;
    });
  }

  void flags() {
    std::vector<double> all_ns;
    for (int round = 0; round < rounds_ / 20; ++round) all_ns.push_back(flag_ns(500));
    add("flag_ns", "a flag to the other core", median(all_ns));
  }

  void copies() {
    const auto lines = std::make_unique<Line[]>(kLines), copy = std::make_unique<Line[]>(kLines);
    const auto write = [&](Line* to) {
      return [to](uint64_t number) {
        for (size_t n = 0; n < kLines; ++n) to[n].number.store(number, std::memory_order_relaxed);
      };
    };
    const auto copy_all = [&](uint64_t) {
      std::memcpy(static_cast<void*>(copy.get()), lines.get(), kBytes);
    };
    const auto nothing = [](uint64_t) {};
    const auto order = shuffled(kLines / kShortLines);
    const auto copy_short = [&](uint64_t) {
      for (const size_t n : order)
        std::memcpy(static_cast<void*>(&copy[n * kShortLines]), &lines[n * kShortLines],
                    kShortLines * kLineBytes);
      std::atomic_thread_fence(std::memory_order_seq_cst);
    };
    add("push_ns", "a line of a copy to lines of the other core", kLines, write(copy.get()),
        copy_all);
    add(
        "share_ns", "a line of short copies to lines that the other core has loaded", kLines,
        [&](uint64_t) {
          for (size_t n = 0; n < kLines; ++n)
            wrong_ += copy[n].number.load(std::memory_order_relaxed) == UINT64_MAX;
        },
        copy_short);
    add("short_ns", "a line of copies of 1 KiB from the other core", kLines, write(lines.get()),
        copy_short);
    add("stream_ns", "a line of a long copy from the other core", kLines, write(lines.get()),
        copy_all);
    add("own_stream_ns", "a line of a copy in the own cache", kLines, nothing, copy_all);
    add("reduce_ns", "a line of numbers, added", kLines, nothing, [&](uint64_t) {
      const auto* const from = reinterpret_cast<const uint64_t*>(&lines[0]);
      auto* const to = reinterpret_cast<uint64_t*>(&copy[0]);
      for (size_t n = 0; n < kBytes / sizeof *to; ++n) to[n] += from[n];
    });
  }

  void memory() {
    for (const size_t mib : {2, 4, 8, 16, 32, 64}) {
      if (options_.quick && mib > 2) break;
      add(fmt::format("chain_{}MiB", mib), fmt::format("a line of {} MiB", mib),
          chain_ns(mib << 20));
    }
  }

  const Options& options_;
  const int rounds_;
  Result result_;
  Pair pair_;
  uint64_t wrong_ = 0;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("Figures of this machine for the model of a node.", "calibrate", options);
  return run_program(line, options, argc, argv, [&] { return Measurement(options).measure(); });
}
