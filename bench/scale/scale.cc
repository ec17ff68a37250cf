// SPDX-License-Identifier: BSD-3-Clause
// scale.cc - times of collectives on a modelled node.
#include <algorithm>

#include "program_main.h"
#include "scale/collectives.h"
#include "scale/description.h"
#include "scale/queues.h"
#include "scale/shapes.h"

namespace nagaya::bench::scale {
namespace {

// In the order of Kind; then what queues.h has.
const std::vector<std::string> kNames = {"barrier",   "bcast",    "reduce",  "allreduce",
                                         "allgather", "alltoall", "mailbox", "delegatees"};

struct Wish {
  std::string machine;
  std::string kind;
  std::vector<size_t> members = {2};
  std::vector<size_t> sizes = {8};
  int steps = -1;
  bool as_measured = false;
  int command_ns = 150;
};

// A mailbox by the number of its posters.
void add_mailbox(Result& result, const Description& machine, const Wish& wish) {
  for (const size_t posters : wish.members)
    result.figures.push_back(
        {fmt::format("mailbox_{}", posters),
         fmt::format("a message to a mailbox of {} posters", posters),
         "us",
         {"Nagaya", {message_ns(machine, static_cast<uint32_t>(posters)) / 1000}},
         {},
         {}});
}

// Delegatees by their number, for tasks on all other cores.
void add_delegatees(Result& result, const Description& machine, const Wish& wish) {
  for (const size_t delegatees : wish.members) {
    const Rate rate =
        rate_of(machine, {machine.cores_of_all() - 8, static_cast<uint32_t>(delegatees),
                          static_cast<double>(wish.command_ns)});
    result.figures.push_back({fmt::format("delegatees_{}", delegatees),
                              fmt::format("an answer by {} delegatees", delegatees),
                              "us",
                              {"Nagaya", {rate.answer_ns / 1000}},
                              {},
                              {}});
  }
}

struct Case {
  Kind kind;
  size_t bytes;
  uint32_t members;
};

Figure figure(const Case& one, const std::string& shape, double ns) {
  const std::string& kind = kNames[static_cast<size_t>(one.kind)];
  std::string name = fmt::format("{}_{}B_{}_{}", kind, one.bytes, one.members, shape);
  std::replace(name.begin(), name.end(), ' ', '_');
  return {name, fmt::format("{} of {} B, {} members, {}", kind, one.bytes, one.members, shape),
          "us", {shape, {ns / 1000}},
          {},   {}};
}

// The time that bench/path/collectives.cc would measure.
void add_as_measured(Result& result, const Description& machine, const Case& one) {
  Simulation simulation(machine, one.members);
  Collectives collectives(simulation, one.members);
  result.figures.push_back(figure(one, "model", collectives.measured_ns(one.kind, one.bytes)));
}

void add(Result& result, const Description& machine, const Case& one, int steps) {
  for (const std::string& algorithm : Collectives::algorithms_of(one.kind, one.bytes)) {
    Simulation simulation(machine, one.members);
    if (steps >= 0) simulation.list_steps(stderr, static_cast<uint32_t>(steps));
    Collectives collectives(simulation, one.members);
    const double ns = collectives.latency_ns(one.kind, one.bytes, algorithm);
    result.figures.push_back(figure(one, algorithm.empty() ? "Nagaya" : algorithm, ns));
  }
  for (const std::string& tree : Shapes::trees_of(one.kind)) {
    Simulation simulation(machine, one.members);
    result.figures.push_back(
        figure(one, tree, Shapes(simulation, one.members).latency_ns(one.kind, one.bytes, tree)));
  }
}

Result measure(const Options& options, const Wish& wish) {
  const Description machine = Description::read(wish.machine);
  Result result{.program = "scale", .quick = options.quick, .figures = {}, .derived = {}};
  if (wish.kind == "mailbox") return add_mailbox(result, machine, wish), result;
  if (wish.kind == "delegatees") return add_delegatees(result, machine, wish), result;
  const auto kind =
      static_cast<Kind>(std::find(kNames.begin(), kNames.end(), wish.kind) - kNames.begin());
  for (const size_t bytes : wish.sizes)
    for (const size_t members : wish.members) {
      const Case one = {kind, kind == Kind::kBarrier ? 0 : bytes, static_cast<uint32_t>(members)};
      wish.as_measured ? add_as_measured(result, machine, one)
                       : add(result, machine, one, wish.steps);
    }
  return result;
}

}  // namespace
}  // namespace nagaya::bench::scale

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  scale::Wish wish;
  CommandLine line("Collectives on a modelled node", "scale", options);
  line.add_choice("kind", wish.kind, scale::kNames);
  line.add_word("--machine", wish.machine, "a description of a machine");
  line.add_sizes("--members", wish.members, 256,
                 "numbers of members, of posters, or of delegatees");
  line.add_sizes("--sizes", wish.sizes, SIZE_MAX, "bytes of each member, multiples of 8");
  line.add_number("--command-ns", wish.command_ns, 0, 100000, "a delegatee's work for a command");
  line.add_flag("--as-measured", wish.as_measured, "as the benchmark of collectives measures");
  line.add_number("--steps", wish.steps, -1, 255, "lists the steps of a member on stderr");
  return run_program(line, options, argc, argv, [&] { return scale::measure(options, wish); });
}
