// SPDX-License-Identifier: BSD-3-Clause
// rank_tables.cc - a job of 2^20 ranks on 16,384 nodes: the size of the tables by which one node
// finds the process of every rank of a communicator, and the time of a look-up in both directions.
// The incumbent: each process has tables of its own, an array by rank and one by process.
//
// The tables are the same at every node of a job: they are built once here, by the 64 tasks of one
// node, and checked for the processes of all nodes. A look-up depends on the result of the one
// before it, so the time is its latency; the floor is the same loop without a look-up.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <random>
#include <stdexcept>

#include "processes/table_index.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

using namespace processes;

constexpr uint32_t kNodes = 16384, kTasks = 64, kSize = kNodes * kTasks;
constexpr uint32_t kIndexSlots = 64;

// ---- the communicators -------------------------------------------------------------------------

std::vector<uint32_t> all_ranks(uint32_t count = kSize) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<uint32_t> shuffled(uint32_t count) {
  std::vector<uint32_t> all = all_ranks(count);
  std::shuffle(all.begin(), all.end(), std::mt19937(20120901));
  return all;
}

// A communicator's positions of a job: every second one, and so on.
struct Order {
  std::string name, title;
  uint32_t block = kTasks;  // so many ranks at a time were dealt to each node
  std::vector<uint32_t> ranks = all_ranks();
};

std::vector<uint32_t> all_but(const std::vector<uint32_t>& removed) {
  std::vector<uint32_t> ranks;
  std::ranges::set_difference(all_ranks(), removed, std::back_inserter(ranks));
  return ranks;
}

std::vector<uint32_t> every_second() {
  std::vector<uint32_t> ranks(kSize / 2);
  for (uint32_t n = 0; n < kSize / 2; ++n) ranks[n] = 2 * n;
  return ranks;
}

std::vector<uint32_t> ranks_of_nodes(const std::vector<uint32_t>& nodes) {
  std::vector<uint32_t> ranks;
  for (const uint32_t node : nodes)
    for (uint32_t task = 0; task < kTasks; ++task) ranks.push_back(node * kTasks + task);
  return ranks;
}

std::vector<uint32_t> three_percent_of_nodes() {
  std::vector<uint32_t> nodes = shuffled(kNodes);
  nodes.resize(kNodes * 3 / 100);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// `runs` runs: single ranks are missing between them, so that blocks do not stay together.
Order cut_into(uint32_t runs) {
  Order order{.name = fmt::format("{}_runs", runs), .title = fmt::format("{} runs", runs)};
  std::vector<uint32_t> missing;
  for (uint32_t n = 1; n < runs; ++n) missing.push_back(n * (kSize / runs) + 1);
  order.ranks = all_but(missing);
  return order;
}

std::vector<Order> all_orders() {
  return {
      {.name = "world", .title = "all ranks, node by node"},
      {.name = "every_second", .title = "every second rank", .ranks = every_second()},
      {.name = "blocks", .title = "all ranks, dealt to the nodes 8 at a time", .block = 8},
      {.name = "round_robin", .title = "all ranks, dealt to the nodes one by one", .block = 1},
      {.name = "nodes_removed",
       .title = "all ranks but those of 3 % of the nodes",
       .ranks = all_but(ranks_of_nodes(three_percent_of_nodes()))},
      {.name = "shuffled",
       .title = "the nodes in random order",
       .ranks = ranks_of_nodes(shuffled(kNodes))},
      {.name = "random", .title = "the ranks in random order", .ranks = shuffled(kSize)},
  };
}

// ---- the tables of a node -----------------------------------------------------------------------

Memory malloc_memory() {
  return {nullptr,
          [](void*, uint64_t bytes) {
            return std::aligned_alloc(kTableAlignment, (bytes + 63) / 64 * 64);
          },
          [](void*, void* block) { std::free(block); }};
}

// The tables of one communicator, as the tasks of a node find and hold them.
class NodesTables {
 public:
  NodesTables(const Order& order, uint32_t runs_max) {
    const std::vector<uint32_t> tasks(kNodes, kTasks);
    for (uint32_t task = 0; task < kTasks; ++task) {
      const int error =
          intern(NodePlan(tasks, order.block), tables_.nodes) +
          intern(RankPlan({*tables_.nodes, std::span(order.ranks)}, runs_max), tables_.ranks);
      if (error != 0) throw std::runtime_error(order.name + ": no tables");
    }
  }
  ~NodesTables() {
    for (uint32_t task = 0; task < kTasks; ++task) {
      index_->drop(tables_.ranks->head, malloc_memory());
      index_->drop(tables_.nodes->head, malloc_memory());
    }
  }
  NodesTables(const NodesTables&) = delete;
  NodesTables& operator=(const NodesTables&) = delete;

  const Translation& get() const { return tables_; }
  uint64_t bytes() const { return tables_.nodes->head.bytes + tables_.ranks->head.bytes; }

 private:
  // Interns a table. Every task after the first must find the table that the first one has built.
  template <class Table, class Plan>
  int intern(const Plan& plan, const Table*& table) {
    const Table* const first = table;
    const int error = index_->intern(plan, malloc_memory(), table);
    return first == nullptr || first == table ? error : -EEXIST;
  }

  std::vector<uint64_t> words_ = std::vector<uint64_t>(TableIndex::bytes_for(kIndexSlots) / 8);
  TableIndex* index_ = TableIndex::create(words_.data(), kIndexSlots);
  Translation tables_{};
};

// The tables that one process has today. The index of a process is node * 64 + task.
struct DenseArrays {
  std::vector<uint32_t> processes;  // by rank
  std::vector<int32_t> ranks;       // by process; -ESRCH: not in the communicator

  // Returns the size of these tables of all processes of a node.
  uint64_t bytes() const { return kTasks * 4 * (processes.size() + ranks.size()); }
};

DenseArrays dense_arrays(const Order& order) {
  DenseArrays arrays{{}, std::vector<int32_t>(kSize, -ESRCH)};
  for (const uint32_t in_world : order.ranks) {
    const uint32_t group = in_world / order.block;
    const uint32_t task = group / kNodes * order.block + in_world % order.block;
    arrays.processes.push_back(group % kNodes * kTasks + task);
    arrays.ranks[arrays.processes.back()] = static_cast<int32_t>(arrays.processes.size() - 1);
  }
  return arrays;
}

void check(const Order& order, const Translation& tables, const DenseArrays& arrays) {
  const auto wrong = [&](uint64_t at) {
    throw std::runtime_error(fmt::format("{}: wrong translation of {}", order.name, at));
  };
  if (tables.ranks->size != arrays.processes.size()) wrong(arrays.processes.size());
  Process process{};
  for (uint32_t rank = 0; rank < arrays.processes.size(); ++rank)
    if (tables.process_of(rank, process) != 0 ||
        process.node * kTasks + process.task != arrays.processes[rank])
      wrong(rank);
  for (uint32_t n = 0; n < kSize; ++n)
    if (tables.rank_of({n / kTasks, n % kTasks}) != arrays.ranks[n]) wrong(n);
}

// ---- the time of a look-up ----------------------------------------------------------------------

struct Chase {
  double ns;       // per look-up
  uint64_t state;  // depends on every result
};

// Looks up `count` random numbers below `range`, each drawn with the result of the one before.
template <class Lookup>
Chase chase(uint64_t count, uint32_t range, Lookup lookup) {
  uint64_t state = 20150901;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t n = 0; n < count; ++n) {
    const auto next = static_cast<uint32_t>((state >> 33) * range >> 31);
    state = state * 6364136223846793005 + 1442695040888963407 + static_cast<uint64_t>(lookup(next));
  }
  const volatile uint64_t end = state;  // keeps the compiler from dropping a loop without look-ups
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return {taken.count() / static_cast<double>(count), end};
}

uint32_t process_by(const Translation& tables, uint32_t rank) {
  Process process;
  return tables.process_of(rank, process) == 0 ? process.node * kTasks + process.task : UINT32_MAX;
}
int64_t rank_by(const Translation& tables, uint32_t process) {
  return tables.rank_of({process / kTasks, process % kTasks});
}

Figure look_up_figure(const std::string& name, const std::string& title,
                      const std::string& incumbent) {
  return {.name = name,
          .title = title,
          .unit = "ns per look-up",
          .subject = {"the node's shared tables", {}},
          .incumbent = Series{incumbent, {}},
          .floor = Series{"the loop alone", {}}};
}

// Adds one round to a figure: subject and incumbent look up the same numbers below `range`.
template <class Subject, class Incumbent>
void add_round(Figure& figure, const Options& options, uint32_t range, Subject subject,
               Incumbent incumbent) {
  const uint64_t count = options.quick ? 1 << 14 : 1 << 21;
  const Chase ours = chase(count, range, subject);
  const Chase theirs = chase(count, range, incumbent);
  if (ours.state != theirs.state) throw std::runtime_error(figure.name + ": wrong results");
  figure.subject.rounds.push_back(ours.ns);
  figure.incumbent->rounds.push_back(theirs.ns);
  figure.floor->rounds.push_back(chase(count, range, [](uint32_t number) { return number; }).ns);
}

// Measures look-ups in both directions. `incumbent_process` and `incumbent_rank` look up in the
// tables that the text `incumbent` names.
template <class Process, class Rank>
void measure_look_ups(const Order& order, const Translation& tables, const std::string& incumbent,
                      Process incumbent_process, Rank incumbent_rank, const Options& options,
                      Result& result) {
  const std::string prefix = "rank_table_" + order.name;
  Figure forward =
      look_up_figure(prefix + "_process", order.title + ": process of a rank", incumbent);
  Figure reverse = look_up_figure(prefix + "_rank", order.title + ": rank of a process", incumbent);
  const int rounds = options.rounds_or(9, 1);
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("{}: round {} of {}", order.name, round + 1, rounds));
    add_round(
        forward, options, tables.ranks->size,
        [&](uint32_t rank) { return process_by(tables, rank); }, incumbent_process);
    add_round(
        reverse, options, kSize, [&](uint32_t process) { return rank_by(tables, process); },
        incumbent_rank);
  }
  result.figures.push_back(forward);
  result.figures.push_back(reverse);
}

void measure_order(const Order& order, const Options& options, Result& result) {
  const NodesTables tables(order, RankPlan::kRunsMax);
  DenseArrays arrays = dense_arrays(order);
  if (options.corrupt) arrays.processes[arrays.processes.size() / 2] ^= 1;
  check(order, tables.get(), arrays);
  const auto kib = [](uint64_t bytes) { return static_cast<double>(bytes) / 1024; };
  result.figures.push_back(
      {.name = "rank_table_" + order.name + "_size",
       .title = order.title + ": memory of a node",
       .unit = "KiB per node",
       .subject = {"the node's shared tables", {kib(tables.bytes())}},
       .incumbent = Series{"two arrays in each process", {kib(arrays.bytes())}},
       .floor = {}});
  measure_look_ups(
      order, tables.get(), "array", [&](uint32_t rank) { return arrays.processes[rank]; },
      [&](uint32_t process) { return int64_t{arrays.ranks[process]}; }, options, result);
}

// Measures a table of `runs` runs beside a packed table: RankPlan::kRunsMax is the number of runs
// from which on the search costs too much.
void measure_runs(uint32_t runs, const Options& options, Result& result) {
  const Order order = cut_into(runs);
  const NodesTables searched(order, RankPlan::kRunsMax), packed(order, 0);
  measure_look_ups(
      order, searched.get(), "packed table",
      [&](uint32_t rank) { return process_by(packed.get(), rank); },
      [&](uint32_t process) { return rank_by(packed.get(), process); }, options, result);
}

// Adds the worst ratios of all communicators: by size beside the arrays, and by time.
void add_worst(Result& result) {
  Derived size{"rank_table_size_worst", "Memory of a node: worst communicator",
               "times the arrays of its 64 processes", 0};
  Derived time{"rank_table_time_worst", "Look-up: slowest communicator", "ns, of medians", 0};
  for (const Figure& figure : result.figures) {
    const bool is_size = figure.name.ends_with("_size");
    Derived& worst = is_size ? size : time;
    worst.value = std::max(
        worst.value,
        median_of(is_size ? ratios(figure.subject, *figure.incumbent) : figure.subject.rounds));
  }
  result.derived = {size, time};
}

Result measure_all(const Options& options) {
  Result result{.program = "rank-tables", .quick = options.quick, .figures = {}, .derived = {}};
  for (const Order& order : all_orders()) measure_order(order, options, result);
  add_worst(result);
  for (const uint32_t runs : {16u, 64u, 256u, 1024u}) measure_runs(runs, options, result);
  return result;
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("Rank tables shared by a node against arrays in every process.", "rank-tables",
                   options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}
