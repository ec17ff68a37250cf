// SPDX-License-Identifier: BSD-3-Clause
#include "area/spool.h"

#include <gtest/gtest.h>

namespace nagaya::area {
namespace {

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() { EXPECT_TRUE(spool_.set(memory_, sizeof memory_, 5)); }

  std::byte memory_[100];
  Spool spool_;
};

TEST_F(SpoolTest, GivesTheLowestRoomThatIsLargeEnough) {
  std::byte* const first = spool_.allocate(40);
  std::byte* const second = spool_.allocate(40);
  EXPECT_EQ(first, memory_);
  EXPECT_EQ(second, memory_ + 40);
  spool_.free(first);
  EXPECT_EQ(spool_.allocate(41), nullptr);
  EXPECT_EQ(spool_.allocate(10), memory_);
  EXPECT_EQ(spool_.allocate(30), memory_ + 10);
}

TEST_F(SpoolTest, HasNoRoomWhenItIsFull) {
  EXPECT_EQ(spool_.allocate(101), nullptr);
  EXPECT_NE(spool_.allocate(100), nullptr);
  EXPECT_EQ(spool_.allocate(1), nullptr);
}

TEST_F(SpoolTest, GivesEmptyMessagesPlacesOfTheirOwn) {
  EXPECT_NE(spool_.allocate(0), spool_.allocate(0));
}

TEST_F(SpoolTest, IsNotReplacedWhileSomethingIsInIt) {
  std::byte* const room = spool_.allocate(1);
  EXPECT_FALSE(spool_.set(nullptr, 0, 0));
  spool_.free(room);
  EXPECT_TRUE(spool_.set(nullptr, 0, 0));
  EXPECT_FALSE(spool_.is_set());
}

}  // namespace
}  // namespace nagaya::area
