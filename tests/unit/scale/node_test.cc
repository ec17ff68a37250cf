// SPDX-License-Identifier: BSD-3-Clause
// node_test.cc - times that were computed by hand from the figures of small_machine.h.
#include "scale/node.h"

#include <gtest/gtest.h>

#include "small_machine.h"

namespace nagaya::bench::scale {
namespace {

class NodeTest : public testing::Test {
 protected:
  double load_ns(uint32_t core, size_t line, double now_ns) {
    return node_.load(core, node_.line(&memory_[line * 64]), now_ns).done_ns - now_ns;
  }
  double store_ns(uint32_t core, size_t line, double now_ns) {
    return node_.store(core, node_.line(&memory_[line * 64]), now_ns, now_ns).done_ns - now_ns;
  }

  Node node_{small_machine()};
  alignas(64) std::byte memory_[64 * 64];
};

TEST_F(NodeTest, ALineComesFromTheNearestPlaceThatHasIt) {
  EXPECT_EQ(load_ns(0, 0, 0), 150) << "memory";
  EXPECT_EQ(load_ns(0, 0, 1000), 0) << "the own cache";
  EXPECT_EQ(load_ns(1, 0, 2000), 10) << "the cluster's cache";
  EXPECT_EQ(load_ns(2, 0, 3000), 100) << "the socket's other cluster";
  EXPECT_EQ(load_ns(4, 0, 4000), 200) << "the other socket";
  EXPECT_EQ(load_ns(6, 0, 5000), 100) << "its socket has the line by now";
}

TEST_F(NodeTest, ALineThatANeighbourHasWrittenComesFromItsOwnCache) {
  store_ns(1, 0, 0);
  EXPECT_EQ(load_ns(0, 0, 1000), 20);
}

TEST_F(NodeTest, AStoreWaitsForTheFarthestHolder) {
  EXPECT_EQ(store_ns(0, 0, 0), 150) << "from memory";
  EXPECT_EQ(store_ns(0, 0, 1000), 0) << "nobody else has it";
  load_ns(1, 0, 2000);
  EXPECT_EQ(store_ns(0, 0, 3000), 20);
  load_ns(7, 0, 4000);
  EXPECT_EQ(store_ns(0, 0, 5000), 200);
  EXPECT_EQ(load_ns(7, 0, 6000), 200) << "it has lost the line";
}

TEST_F(NodeTest, ALoadWaitsForAStoreUnderWay) {
  EXPECT_EQ(store_ns(0, 0, 0), 150);
  EXPECT_EQ(load_ns(2, 0, 50), 200) << "100 until the store is visible, and 100 for the line";
}

TEST_F(NodeTest, OneLineServesOneRequestAtATime) {
  store_ns(0, 0, 0);
  EXPECT_EQ(load_ns(2, 0, 1000), 100);
  EXPECT_EQ(load_ns(4, 0, 1000), 230) << "30 after the first one";
  EXPECT_EQ(load_ns(6, 0, 1000), 170) << "30 and 40 after them, and 100 from the neighbours";
}

TEST_F(NodeTest, StoresOfACoreBecomeVisibleInTheirOrder) {
  EXPECT_EQ(store_ns(0, 0, 0), 150);
  store_ns(0, 1, 1000);
  load_ns(4, 0, 2000);
  EXPECT_EQ(store_ns(0, 0, 3000), 200);
  EXPECT_EQ(store_ns(0, 1, 3010), 190) << "the own line waits for the earlier store";
}

TEST_F(NodeTest, StoresThatWaitForOneLineBecomeVisibleTogether) {
  store_ns(0, 0, 0);
  load_ns(4, 0, 1000);
  EXPECT_EQ(store_ns(0, 0, 2000), 200);
  EXPECT_EQ(load_ns(4, 0, 2010), 390) << "190 until the store is visible, and 200 for the line";
  EXPECT_EQ(store_ns(0, 0, 2020), 180) << "as the earlier store";
  EXPECT_EQ(load_ns(4, 0, 3000), 0) << "it got both";
}

TEST_F(NodeTest, ACoreDropsItsOldestLines) {
  for (size_t line = 0; line < 5; ++line) load_ns(0, line, 1000 * static_cast<double>(line));
  EXPECT_EQ(load_ns(0, 4, 10000), 0);
  EXPECT_EQ(load_ns(0, 0, 11000), 10) << "its cache has four lines; the cluster's cache has it";
}

TEST_F(NodeTest, LinesThatComeFromMemoryFollowEachOther) {
  EXPECT_EQ(load_ns(0, 0, 0), 150);
  EXPECT_EQ(load_ns(1, 1, 0), 151) << "the memory is free after 1 ns";
}

}  // namespace
}  // namespace nagaya::bench::scale
