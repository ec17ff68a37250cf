// SPDX-License-Identifier: BSD-3-Clause
// resource.cc - the price, beside the network, of living in one address space: page faults,
// mappings, malloc, threads, switches. Tasks of one space against separate processes.
#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "launch.h"
#include "machine.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr uint64_t kReusedMax = 32 * kMiB;  // reused blocks up to here have a bar

struct Microbenchmark {
  std::string group;  // as the command line names it
  std::string name, title, unit;
  std::string work;
  Mode floor;
  int ranks;
  bool one_core;  // all ranks on one core
  int64_t operations;
  uint64_t bytes;
};

std::string size_name(uint64_t bytes) {
  if (bytes >= kMiB) return std::to_string(bytes / kMiB) + "MiB";
  if (bytes >= kKiB) return std::to_string(bytes / kKiB) + "KiB";
  return std::to_string(bytes) + "B";
}

// Returns a number of operations that takes about a tenth of a second: small blocks cost a list
// operation, large ones the writing of their pages, the largest (which libc maps afresh each time)
// page faults.
int64_t malloc_operations(uint64_t bytes) {
  if (bytes >= kReusedMax) return 4;
  return 2000000 / (1 + static_cast<int64_t>(bytes / 4096) / 8);
}

std::vector<Microbenchmark> all_microbenchmarks() {
  std::vector<Microbenchmark> all{
      {"page_fault", "page_fault", "First touch of fresh 4 KiB pages", "ns per page", "page_fault",
       Mode::kAlone, 2, false, 16384, 0},
      {"map_unmap", "map_unmap", "mmap and munmap of 64 KiB", "ns per pair", "map_unmap",
       Mode::kAlone, 2, false, 5000, 64 * kKiB},
      {"protect", "protect", "mprotect of 64 KiB", "ns per call", "protect", Mode::kAlone, 2, false,
       5000, 64 * kKiB},
      {"thread", "thread", "pthread_create and pthread_join", "ns per thread", "thread",
       Mode::kAlone, 2, false, 1000, 0},
      {"malloc_mixed", "malloc_mixed", "malloc of 0 to 2 MB, mixed, written", "ns per block",
       "malloc_mixed", Mode::kSeparateTuned, 2, false, 2000, 2000000},
  };
  for (uint64_t bytes : {uint64_t{64}, uint64_t{256}, kKiB, 4 * kKiB, 16 * kKiB, 64 * kKiB,
                         256 * kKiB, kMiB, 4 * kMiB, 16 * kMiB, 31 * kMiB, 32 * kMiB, 64 * kMiB})
    all.push_back({"malloc_fixed", "malloc_" + size_name(bytes),
                   "malloc of reused blocks of " + size_name(bytes) + ", written", "ns per block",
                   "malloc_fixed", Mode::kSeparateTuned, 2, false, malloc_operations(bytes),
                   bytes});
  for (int ranks : {2, 8})
    for (uint64_t bytes : {uint64_t{0}, 256 * kKiB}) {
      const std::string name =
          "switch_" + std::to_string(ranks) + (bytes != 0 ? "_" + size_name(bytes) : "");
      all.push_back(
          {"switch", name,
           "Turn handed on by sched_yield, " + std::to_string(ranks) + " ranks on one core" +
               (bytes != 0 ? ", " + size_name(bytes) + " touched per turn" : ""),
           "ns per turn", "switch", Mode::kThreads, ranks, true, bytes != 0 ? 4000 : 40000, bytes});
    }
  return all;
}

Order order_of(const Microbenchmark& benchmark, const Options& options) {
  Order order;
  order.work = benchmark.work;
  order.ranks = benchmark.ranks;
  order.repetitions = options.quick ? 1 : 3;
  order.operations = options.quick ? std::clamp<int64_t>(benchmark.operations / 50, 8, 2000)
                                   : benchmark.operations;
  order.bytes = benchmark.bytes;
  order.corrupt = options.corrupt;
  return order;
}

Figure measure(const Microbenchmark& benchmark, const Options& options) {
  Launcher launcher;  // a fresh space, without remains of the last microbenchmark
  std::vector<int> processors = usable_processors();
  if (benchmark.one_core) processors.resize(1);
  const Order order = order_of(benchmark, options);
  Figure figure{.name = benchmark.name,
                .title = benchmark.title,
                .unit = benchmark.unit,
                .subject = {name_of(Mode::kSpace), {}},
                .incumbent = Series{name_of(Mode::kSeparate), {}},
                .floor = Series{name_of(benchmark.floor), {}}};
  const int rounds = options.rounds_or(9, 1);
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("{}: round {} of {}", benchmark.name, round + 1, rounds));
    figure.subject.rounds.push_back(launcher.run(Mode::kSpace, order, processors));
    figure.incumbent->rounds.push_back(launcher.run(Mode::kSeparate, order, processors));
    figure.floor->rounds.push_back(launcher.run(benchmark.floor, order, processors));
  }
  return figure;
}

// Returns the worst median ratio of the sizes up to kReusedMax, to which the bar applies.
std::optional<Derived> worst_of_reused(const std::vector<Figure>& figures,
                                       const std::vector<Microbenchmark>& chosen) {
  std::optional<Derived> worst;
  for (size_t n = 0; n < figures.size(); ++n) {
    if (chosen[n].group != "malloc_fixed" || chosen[n].bytes > kReusedMax) continue;
    const double ratio = median_of(ratios(figures[n].subject, *figures[n].incumbent));
    if (!worst || ratio > worst->value)
      worst = Derived{"malloc_reused_worst", "malloc of reused blocks up to 32 MiB: worst size",
                      "times separate processes, at " + size_name(chosen[n].bytes), ratio};
  }
  return worst;
}

Result measure_all(const std::vector<std::string>& names, const Options& options) {
  std::vector<Microbenchmark> chosen;
  for (const Microbenchmark& benchmark : all_microbenchmarks())
    if (names.empty() || std::count(names.begin(), names.end(), benchmark.group) != 0 ||
        std::count(names.begin(), names.end(), benchmark.name) != 0)
      chosen.push_back(benchmark);
  if (chosen.empty()) throw std::invalid_argument("no such microbenchmark; see --list");
  Result result{.program = "resource", .quick = options.quick, .figures = {}, .derived = {}};
  for (const Microbenchmark& benchmark : chosen)
    result.figures.push_back(measure(benchmark, options));
  if (const auto worst = worst_of_reused(result.figures, chosen)) result.derived.push_back(*worst);
  return result;
}

void list_and_exit() {
  for (const Microbenchmark& benchmark : all_microbenchmarks())
    fmt::print("{:<14} {:<20} {}\n", benchmark.group, benchmark.name, benchmark.title);
  std::exit(0);
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  std::vector<std::string> names;
  CommandLine line("Tasks of one space against separate processes.", "resource", options);
  line.add_words("names", names, "Groups or microbenchmarks; all when none is named");
  line.add_action("--list", list_and_exit, "Name the microbenchmarks");
  return run_program(line, options, argc, argv, [&] { return measure_all(names, options); });
}
