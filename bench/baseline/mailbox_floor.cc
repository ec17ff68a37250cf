// SPDX-License-Identifier: BSD-3-Clause
// mailbox_floor.cc - 8 bytes and a flag between two processors, on one cache line and on two.
#include "baseline/mailbox_floor.h"

#include <memory>

#include "program_main.h"

namespace nagaya::bench {
namespace {

template <class Channel>
double measure(const Options& options) {
  const auto there = std::make_unique<Channel>(), back = std::make_unique<Channel>();
  return one_way_ns(*there, *back, options.quick ? 1000 : 200000, options.corrupt);
}

Result measure_all(const Options& options) {
  const int rounds = options.rounds_or(25, 2);
  const auto figure = [](const char* name, const char* title) {
    return Figure{name, title, "ns one way", {"two threads", {}}, {}, {}};
  };
  Figure one = figure("floor_mailbox_one_line", "8 bytes and a flag on one cache line");
  Figure two = figure("floor_mailbox_two_lines", "8 bytes on one cache line, a flag on another");
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("mailbox floor: round {} of {}", round + 1, rounds));
    one.subject.rounds.push_back(measure<OneLine>(options));
    two.subject.rounds.push_back(measure<TwoLines>(options));
  }
  return {.program = "mailbox-floor", .quick = options.quick, .figures = {one, two}, .derived = {}};
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("8 bytes and a flag between two processors.", "mailbox-floor", options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}
