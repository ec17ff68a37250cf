// SPDX-License-Identifier: BSD-3-Clause
#include "launch/binding.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace nagaya::tools {
namespace {

// Two packages of two NUMA nodes, each with an L3 cache and two cores of two hardware threads.
constexpr char kTwoPackages[] = "package:2 numa:2 l3:1 core:2 pu:2";
constexpr char kFourCores[] = "package:1 core:4 pu:1";

Topology synthetic(const char* description) {
  hwloc_topology_t topology;
  hwloc_topology_init(&topology);
  hwloc_topology_set_synthetic(topology, description);
  hwloc_topology_load(topology);
  return Topology(topology);
}

// Returns the processors of all ranks: "0-1 2-3".
std::string lists(const char* machine, const BindingOptions& options, uint32_t ranks) {
  const Topology topology = synthetic(machine);
  const Binding binding(topology, options, ranks);
  std::string text;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    text += (rank == 0 ? "" : " ") + (binding.cpus_of(rank) ? binding.list_of(rank) : "-");
  return text;
}

std::string report(const char* machine, const BindingOptions& options, uint32_t ranks,
                   uint32_t rank) {
  const Topology topology = synthetic(machine);
  return Binding(topology, options, ranks).report_of(rank);
}

// Expects that the options are refused with all of the words.
void expect_refusal(const char* machine, const BindingOptions& options, uint32_t ranks,
                    const std::vector<std::string>& words) {
  try {
    lists(machine, options, ranks);
    ADD_FAILURE() << options.bind_to << " " << options.map_by << " was accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), -EINVAL);
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST(Binding, IsByDefaultThatOfMpirun) {
  EXPECT_EQ(lists(kTwoPackages, {}, 1), "0-1");
  EXPECT_EQ(lists(kTwoPackages, {}, 2), "0-1 2-3");
  EXPECT_EQ(lists(kTwoPackages, {}, 5), "0-3 4-7 8-11 12-15 0-3");
  EXPECT_EQ(lists(kTwoPackages, {}, 9), "- - - - - - - - -");
}

TEST(Binding, DealsOutRanksInTurn) {
  EXPECT_EQ(lists(kTwoPackages, {"core", "slot"}, 4), "0-1 2-3 4-5 6-7");
  EXPECT_EQ(lists(kTwoPackages, {"core", "socket"}, 4), "0-1 8-9 2-3 10-11");
  EXPECT_EQ(lists(kTwoPackages, {"core", "package"}, 4), "0-1 8-9 2-3 10-11");
  EXPECT_EQ(lists(kTwoPackages, {"core", "numa"}, 5), "0-1 4-5 8-9 12-13 2-3");
  EXPECT_EQ(lists(kTwoPackages, {"core", ""}, 4), lists(kTwoPackages, {"core", "numa"}, 4));
  EXPECT_EQ(lists(kTwoPackages, {"package", "core"}, 5), "0-7 0-7 0-7 0-7 8-15");
  EXPECT_EQ(lists(kTwoPackages, {"package", "node"}, 3), "0-7 8-15 0-7");
  EXPECT_EQ(lists(kTwoPackages, {"none", "core"}, 2), "- -");
}

TEST(Binding, FollowsTheMappingIfNothingElseIsSaid) {
  EXPECT_EQ(lists(kTwoPackages, {"", "hwthread"}, 3), "0 1 2");
  EXPECT_EQ(lists(kTwoPackages, {"", "core"}, 3), "0-1 2-3 4-5");
  EXPECT_EQ(lists(kTwoPackages, {"", "L3cache"}, 3), "0-3 4-7 8-11");
  EXPECT_EQ(lists(kTwoPackages, {"", "numa"}, 5), "0-3 4-7 8-11 12-15 0-3");
  EXPECT_EQ(lists(kTwoPackages, {"", "slot"}, 3), "0-3 4-7 8-11");
  EXPECT_EQ(lists(kTwoPackages, {"", "core"}, 9), "- - - - - - - - -");
}

TEST(Binding, GivesARankSeveralCores) {
  EXPECT_EQ(lists(kTwoPackages, {"", "slot:PE=2"}, 4), "0-3 4-7 8-11 12-15");
  EXPECT_EQ(lists(kTwoPackages, {"", ":PE=2"}, 2), "0-3 4-7");
  EXPECT_EQ(lists(kTwoPackages, {"", "core:pe=3"}, 2), "0-5 6-11");
  EXPECT_EQ(lists(kTwoPackages, {"", "package:PE=2"}, 4), "0-3 8-11 4-7 12-15");
  EXPECT_EQ(lists(kTwoPackages, {"hwthread", "slot:PE=2"}, 2), "0-1 2-3");
}

TEST(Binding, RefusesMoreRanksThanCoresUnlessTheyAreAllowed) {
  expect_refusal(kFourCores, {"core", ""}, 5, {"--bind-to core", "core:overload-allowed"});
  expect_refusal(kFourCores, {"package", ""}, 5, {"package:overload-allowed"});
  expect_refusal(kFourCores, {"", "slot:PE=2"}, 3, {"--map-by slot:PE=2", "more ranks"});
  EXPECT_EQ(lists(kFourCores, {"core:overload-allowed", "slot"}, 6), "0 1 2 3 0 1");
  EXPECT_EQ(lists(kFourCores, {"core:overload-allowed", "slot:PE=3"}, 2), "0-2 0-1,3");
  EXPECT_EQ(lists(kFourCores, {"none", ""}, 5), "- - - - -");
}

TEST(Binding, RefusesWhatTheMachineHasNot) {
  expect_refusal(kFourCores, {"l3cache", ""}, 1, {"--bind-to l3cache", "no L3 cache", "lstopo"});
  expect_refusal(kFourCores, {"", "l3cache"}, 1, {"--map-by l3cache", "no L3 cache"});
  expect_refusal("pu:4", {"core", ""}, 1, {"no core"});
  expect_refusal("pu:4", {"", "slot:PE=2"}, 1, {"no core"});
  expect_refusal(kTwoPackages, {"", "numa:PE=3"}, 1, {"--map-by numa:PE=3", "too few cores"});
  EXPECT_EQ(lists("pu:4", {}, 1), "-");
  EXPECT_EQ(lists("numa:2 pu:2", {"", "numa"}, 2), "- -");
  EXPECT_EQ(lists("numa:2 pu:2", {"numa", ""}, 3), "0-1 2-3 0-1");
}

TEST(Binding, RefusesValuesThatItDoesNotKnow) {
  for (const char* value : {"cores", "slots", "ppr:2:package", "core:PE", "core:PE=", "core:PE=0",
                            "core:PE=2x", "core:PE=-1", "core:span", ":PE=0"})
    expect_refusal(kFourCores, {"", value}, 1, {"--map-by", value});
  for (const char* value : {"cores", "slot", "node", "core:PE=2", "none:x", ":"})
    expect_refusal(kFourCores, {value, ""}, 1, {"--bind-to", value});
  expect_refusal(kFourCores, {"", "slot:oversubscribe"}, 1, {"leave :oversubscribe out"});
  expect_refusal(kFourCores, {"package", "slot:PE=2"}, 1, {"--bind-to package", "PE=n"});
  expect_refusal(kFourCores, {"none", "slot:PE=2"}, 1, {"--bind-to none", "PE=n"});
}

TEST(Binding, IsReportedInWords) {
  EXPECT_EQ(report(kTwoPackages, {"core", "slot"}, 4, 3), "rank 3 of 4: core 3 (processors 6-7)");
  EXPECT_EQ(report(kTwoPackages, {"", "slot:PE=2"}, 2, 1),
            "rank 1 of 2: cores 2-3 (processors 4-7)");
  EXPECT_EQ(report(kTwoPackages, {"", "numa"}, 4, 2), "rank 2 of 4: NUMA node 2 (processors 8-11)");
  EXPECT_EQ(report(kTwoPackages, {"hwthread", ""}, 1, 0),
            "rank 0 of 1: hardware thread 0 (processors 0)");
  EXPECT_EQ(report(kTwoPackages, {"none", ""}, 1, 0), "rank 0 of 1: not bound (processors 0-15)");
}

TEST(Binding, HoldsOnThisMachineForTheProcessorsOfThisProcess) {
  cpu_set_t own;
  ASSERT_EQ(::sched_getaffinity(0, sizeof own, &own), 0);
  const Topology topology;
  const Binding binding(topology, {}, 1);
  if (const auto cpus = binding.cpus_of(0)) {
    cpu_set_t both;
    CPU_AND(&both, &own, &*cpus);
    EXPECT_TRUE(CPU_EQUAL(&both, &*cpus));
    EXPECT_GT(CPU_COUNT(&*cpus), 0);
  }
}

}  // namespace
}  // namespace nagaya::tools
