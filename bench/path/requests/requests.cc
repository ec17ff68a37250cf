// SPDX-License-Identifier: BSD-3-Clause
// requests.cc - requests to another process's memory, as the LLCL paper measures them (Endo, Taura
// 2016, figures 2 to 7): READ of 1 B to 1 MiB by 1 to 16 threads.
//
//   overhead   from the call until the request is accepted
//   latency    from the call until its completion is seen
//   rate       requests without waiting; given as nanoseconds per request of all threads together
//
// A job of two processes: the first one measures, and reads from the other one. On one node the
// caller itself copies; on two nodes a request goes through the delegatees, whose mode the
// environment may set (nagaya(7)). The incumbent is libfabric between the same two processes.
#include <algorithm>

#include "program_main.h"
#include "requests.h"

namespace nagaya::bench {
namespace {

struct Choice : Options {
  std::vector<size_t> threads;
  std::vector<size_t> bytes;
  bool ours_only = false;
  bool unbound = false;
};

enum Quantity { kOverhead, kLatency, kRate, kQuantities };
struct QuantityText {
  const char *key, *title, *unit;
};
constexpr QuantityText kTexts[kQuantities] = {
    {"overhead", "until a request is accepted", "ns"},
    {"latency", "until its data is there", "ns"},
    {"rate", "many requests under way", "ns per request"},
};
using Values = std::array<std::vector<double>, kQuantities>;  // by round

// The values of one way at one point.
struct Measured {
  Path* path;
  Values values;
};
struct Cell {
  Point point;
  std::vector<Measured> ways;  // ours first, then those that it is compared with
};

std::string size_text(size_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{}MiB", bytes >> 20);
  return bytes >= 1024 ? fmt::format("{}KiB", bytes >> 10) : fmt::format("{}B", bytes);
}

// Returns the points to measure, of the paper's. If the command line names none: all sizes by one
// thread, and all numbers of threads with some of them.
std::vector<Point> points_of(const Choice& choice) {
  std::vector<Point> points;
  for (const size_t threads : choice.threads)
    for (const size_t bytes : choice.bytes)
      points.push_back({static_cast<uint32_t>(threads), bytes});
  if (!points.empty()) return points;
  if (choice.quick) return {{1, 1}, {1, 8}, {1, kMemoryBytes}, {4, 8}, {16, 8}};
  for (const size_t bytes : {1, 8, 64, 512, 4096, 32768, 262144, 1048576})
    points.push_back({1, bytes});
  for (const size_t bytes : {8, 4096, 32768, 262144})
    for (const uint32_t threads : {2, 4, 8, 12, 16}) points.push_back({threads, bytes});
  return points;
}

class Program {
 public:
  Program(const Choice& choice, Pair& pair)
      : choice_(choice),
        pair_(pair),
        mode_(mode_of_environment()),
        ours_(our_path(pair, mode_, !choice.unbound)) {
    const auto sharings = {Sharing::kOneThread, Sharing::kMutex, Sharing::kThreadSafe};
    // Skipped beside delegatees that never stop spinning.
    if (!choice.ours_only && !mode_.polls)
      for (const Sharing sharing : sharings) raw_.push_back(raw_path(pair, mode_, sharing));
    for (const Point& point : points_of(choice)) cells_.push_back(cell(point));
  }

  Result measure() {
    warm_up();
    const int rounds = choice_.rounds_or(15, 1);
    for (int round = 0; round < rounds; ++round)
      for (Cell& cell : cells_) {
        progress(fmt::format("requests: round {} of {}, {} threads, {}", round + 1, rounds,
                             cell.point.threads, size_text(cell.point.bytes)));
        bind(cell.point.threads == 1);
        for (Measured& way : cell.ways) measure(cell.point, way);
        if (cell.point.threads == 1 && cell.point.bytes == 8) measure_fetch_adds();
      }
    return result();
  }

 private:
  Cell cell(const Point& point) {
    Cell cell{point, {{ours_.get(), {}}}};
    for (size_t n = 0; n < raw_.size(); ++n)
      if (n != static_cast<size_t>(Sharing::kOneThread) || point.threads == 1)
        cell.ways.push_back({raw_[n].get(), {}});
    return cell;
  }

  // Connections are made by the first request.
  void warm_up() {
    std::vector<Path*> paths{ours_.get()};
    for (const auto& path : raw_) paths.push_back(path.get());
    for (Path* path : paths) measure_latency(*path, {1, 1}, std::chrono::milliseconds(1));
  }

  void bind(bool alone) {
    if (choice_.unbound) return;
    bind_process(true, alone);
    pair_.order({Order::Kind::kBind, alone, {}, {}});
  }

  void measure(const Point& point, Measured& way) {
    const std::chrono::milliseconds length(choice_.quick ? 10 : 50);
    const Times times = measure_latency(*way.path, point, length);
    way.values[kOverhead].push_back(times.overhead_ns);
    way.values[kLatency].push_back(times.latency_ns);
    way.values[kRate].push_back(measure_rate_ns(*way.path, point, length));
  }

  void measure_fetch_adds() {
    const uint64_t count = choice_.quick ? 256 : 20000;
    fetch_adds_.push_back(measure_fetch_add_ns(pair_, *ours_, count));
    if (!raw_.empty()) {
      const uint64_t fewer = count / 10;  // each takes far longer
      raw_fetch_adds_.push_back(measure_fetch_add_ns(pair_, *raw_[0], fewer));
    }
    clock_.push_back(measure_clock_ns());
  }

  // ---- figures ---------------------------------------------------------------------------------

  // Returns the name of a figure. Jobs in different modes give different figures, unless the jobs
  // are to be compared.
  std::string key(const std::string& rest) const {
    const std::string mode = choice_.ours_only || mode_.key == "lanes" ? "" : mode_.key + "_";
    const char* const where = pair_.is_on_one_node() ? "node" : choice_.unbound ? "apart" : "hosts";
    return fmt::format("requests_{}_{}{}", where, mode, rest);
  }

  // Returns the title of a figure. It names the shared processors, without which the numbers mean
  // nothing.
  std::string title(uint32_t threads, const std::string& what) const {
    const char* const where = pair_.is_on_one_node() ? "in a node" : "between two hosts";
    const char* const shared = choice_.unbound ? "each host has processors of its own"
                               : threads == 1
                                   ? "requester on one processor, all that serves it on another"
                               : pair_.is_on_one_node() ? "all share all processors"
                                                        : "each host has half of the processors";
    return fmt::format("{}, {}, {} thread{} ({})", what, where, threads, threads == 1 ? "" : "s",
                       shared);
  }

  Figure figure(const Cell& cell, Quantity quantity, size_t against) const {
    const auto series = [&](const Measured& way) {
      return Series{way.path->name(), way.values[quantity]};
    };
    const auto& [point, ways] = cell;
    const std::string name =
        fmt::format("{}_{}_{}", kTexts[quantity].key, point.threads, size_text(point.bytes));
    Figure figure{key(name) + (against > 1 ? "_over_" + ways[against].path->key() : ""),
                  title(point.threads, fmt::format("READ of {}, {}", size_text(point.bytes),
                                                   kTexts[quantity].title)),
                  kTexts[quantity].unit,
                  series(ways[0]),
                  {},
                  {}};
    if (against < ways.size()) figure.incumbent = series(ways[against]);
    if (quantity == kOverhead && point.threads == 1 && point.bytes == 8)
      figure.floor = Series{"two readings of the clock", clock_};
    return figure;
  }

  Figure fetch_add_figure() const {
    Figure figure{key("fetch_add"),
                  title(1, "fetch-add, 64 under way; libfabric by message, one by one"),
                  "ns",
                  {ours_->name(), fetch_adds_},
                  {},
                  {}};
    if (!raw_.empty()) figure.incumbent = Series{raw_[0]->name(), raw_fetch_adds_};
    return figure;
  }

  void add_latency_added(Result& result, const Cell& cell) const {
    if (cell.ways.size() < 2) return;
    std::vector<double> added;
    for (size_t round = 0; round < cell.ways[0].values[kLatency].size(); ++round)
      added.push_back(cell.ways[0].values[kLatency][round] - cell.ways[1].values[kLatency][round]);
    result.derived.push_back({key("latency_added"), "latency added to libfabric's, one thread, 8 B",
                              "ns, median of the rounds' differences", median_of(added)});
  }

  // Adds the drop of the rate from its best to that of 16 threads.
  void add_drop(Result& result) const {
    double best_ns = 0, last_ns = 0;
    for (const Cell& cell : cells_) {
      if (cell.point.bytes != 8) continue;
      const double cost_ns = median_of(cell.ways[0].values[kRate]);
      if (best_ns == 0 || cost_ns < best_ns) best_ns = cost_ns;
      if (cell.point.threads == 16) last_ns = cost_ns;
    }
    if (last_ns != 0)
      result.derived.push_back({key("rate_drop"), "rate lost from the best to 16 threads, 8 B",
                                "of the best", 1 - best_ns / last_ns});
  }

  Result result() const {
    Result result{.program = "requests", .quick = choice_.quick, .figures = {}, .derived = {}};
    for (const Cell& cell : cells_)
      for (int quantity = 0; quantity < kQuantities; ++quantity)
        for (size_t against = 1; against < std::max<size_t>(cell.ways.size(), 2); ++against)
          result.figures.push_back(figure(cell, static_cast<Quantity>(quantity), against));
    for (const Cell& cell : cells_)
      if (cell.point.threads == 1 && cell.point.bytes == 8) {
        result.figures.push_back(fetch_add_figure());
        add_latency_added(result, cell);
      }
    add_drop(result);
    return result;
  }

  const Choice& choice_;
  Pair& pair_;
  const Mode mode_;
  const std::unique_ptr<Path> ours_;
  std::vector<std::unique_ptr<Path>> raw_;  // by Sharing
  std::vector<Cell> cells_;
  std::vector<double> fetch_adds_, raw_fetch_adds_, clock_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Choice choice;
  CommandLine line(
      "Requests to another process's memory. Run it as a job: nagaya run -n 2 requests", "requests",
      choice);
  line.add_sizes("--threads", choice.threads, 4096, "Numbers of threads, with --bytes");
  line.add_sizes("--bytes", choice.bytes, kMemoryBytes, "Sizes, for each number of threads");
  line.add_flag("--unbound", choice.unbound,
                "Leave all threads on the processors that their host has");
  line.add_flag("--ours-only", choice.ours_only, "Nagaya alone, to be compared between jobs");
  line.parse(argc, argv);
  try {
    Pair pair(choice.corrupt);
    if (!pair.measures()) {
      pair.follow();
      return 0;
    }
    const Result result = Program(choice, pair).measure();
    print(result, choice.json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "requests: {}\n", error.what());
    return 2;
  }
}
