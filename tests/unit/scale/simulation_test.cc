// SPDX-License-Identifier: BSD-3-Clause
// simulation_test.cc - members on the cores of small_machine.h; the times were computed by hand.
#include "scale/simulation.h"

#include <gtest/gtest.h>

#include <atomic>

#include "small_machine.h"

namespace nagaya::bench::scale {
namespace {

struct alignas(64) Flag {
  uint64_t value = 0;
};

class SimulationTest : public testing::Test {
 protected:
  void raise(Simulation& simulation, Flag& flag) {
    simulation.store(&flag, sizeof flag);
    ++flag.value;
  }
  void await(Simulation& simulation, const Flag& flag, uint64_t value) {
    simulation.wait([&] {
      simulation.load(&flag, sizeof flag.value);
      return flag.value >= value;
    });
  }
  Flag flags_[8];
};

TEST_F(SimulationTest, AFlagTakesItsStoreALookAndATransfer) {
  Simulation simulation(small_machine(), {0, 2});
  simulation.run([&](uint32_t member) {
    if (member == 0) {
      simulation.compute(1000);
      return raise(simulation, flags_[0]);
    }
    simulation.begin_lap();
    await(simulation, flags_[0], 1);
    simulation.end_lap();
  });
  // Member 1 looks (1 + 150 from memory), and waits. The store begins at 1001, and takes 100 until
  // member 1 has lost the line. Member 1 looks again after 7, 1 for the access, 100 for the line.
  EXPECT_EQ(simulation.lap_ns(1), 1001 + 100 + 7 + 1 + 100);
}

TEST_F(SimulationTest, LoadsOfSeveralLinesAreUnderWayAtATime) {
  Simulation simulation(small_machine(), {0, 2});
  simulation.run([&](uint32_t member) {
    if (member == 0)
      for (size_t n = 0; n < 4; ++n) raise(simulation, flags_[n]);
    simulation.align();
    if (member == 0) return;
    simulation.compute(1000);
    simulation.begin_lap();
    for (size_t n = 0; n < 4; ++n) await(simulation, flags_[n], 1);
    simulation.end_lap();
  });
  // Two at a time: at 1 and 2; when these are there, at 101 and 102, the next two.
  EXPECT_EQ(simulation.lap_ns(1), 202);
}

TEST_F(SimulationTest, MembersOfOneCoreYieldToEachOther) {
  Simulation simulation(small_machine(), std::vector<uint32_t>(12, 0));
  simulation.run([&](uint32_t member) {
    if (member == 1) return raise(simulation, flags_[0]);
    if (member != 0) return;
    simulation.begin_lap();
    await(simulation, flags_[0], 1);
    simulation.end_lap();
  });
  // Member 0 looks (1 + 150), and yields (50). Member 1 stores (1). Member 0 finds the line in
  // the core's cache (1).
  EXPECT_EQ(simulation.lap_ns(0), 151 + 50 + 1 + 1);
}

TEST_F(SimulationTest, MembersThatWaitForEachOtherAreFound) {
  Simulation simulation(small_machine(), 2);
  EXPECT_THROW(simulation.run([&](uint32_t) { await(simulation, flags_[0], 1); }),
               std::runtime_error);
}

}  // namespace
}  // namespace nagaya::bench::scale
