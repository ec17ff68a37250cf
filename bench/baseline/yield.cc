// SPDX-License-Identifier: BSD-3-Clause
// yield.cc - threads of one process that share one core hand a turn round by sched_yield: the
// floor of a message between ranks that share a core.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "machine.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Turn {
  std::atomic<uint64_t> number{0};  // thread number % threads has the turn
  uint64_t taken = 0;               // plain: only the thread with the turn touches it
};

// Takes a thread's turns. Acquire: pairs with the release store of the thread that hands on.
void take_turns(Turn& turn, uint64_t self, uint64_t threads, uint64_t turns) {
  for (uint64_t mine = self; mine < turns; mine += threads) {
    while (turn.number.load(std::memory_order_acquire) != mine) ::sched_yield();
    ++turn.taken;
    turn.number.store(mine + 1, std::memory_order_release);
  }
}

double turn_ns(uint64_t threads, uint64_t turns, bool corrupt) {
  bind_to(usable_processors().front());  // the threads inherit it
  Turn turn;
  std::vector<std::thread> others;
  const auto start = Clock::now();
  for (uint64_t self = 1; self < threads; ++self)
    others.emplace_back([&, self] { take_turns(turn, self, threads, turns); });
  take_turns(turn, 0, threads, turns);
  for (std::thread& other : others) other.join();
  const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
  if (turn.taken + (corrupt ? 1 : 0) != turns) throw std::runtime_error("a turn was lost");
  return taken.count() / static_cast<double>(turns);
}

Result measure_all(const Options& options) {
  const int rounds = options.rounds_or(15, 2);
  const uint64_t turns = options.quick ? 1000 : 200000;
  Result result{.program = "yield", .quick = options.quick, .figures = {}, .derived = {}};
  for (int threads : {2, 8})
    result.figures.push_back(
        {.name = fmt::format("floor_yield_{}", threads),
         .title = fmt::format("Turn handed on among {} threads of one core", threads),
         .unit = "ns per turn",
         .subject = {"threads of one process", {}},
         .incumbent = {},
         .floor = {}});
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("yield: round {} of {}", round + 1, rounds));
    result.figures[0].subject.rounds.push_back(turn_ns(2, turns, options.corrupt));
    result.figures[1].subject.rounds.push_back(turn_ns(8, turns, options.corrupt));
  }
  return result;
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("Turns handed on by sched_yield on one core.", "yield", options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}
