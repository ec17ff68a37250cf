// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/space.h"

#include <gtest/gtest.h>

namespace nagaya::task {
namespace {

TEST(Stamp, RefusesAnotherAbiButNotAppendedFields) {
  const Stamp stamp{kMagic, kAbiMajor, kAbiMinor, 100, 0};
  EXPECT_TRUE(stamp.matches(100));
  EXPECT_TRUE(stamp.matches(96));    // the other copy knows more fields
  EXPECT_FALSE(stamp.matches(104));  // the other copy knows fewer
  EXPECT_FALSE((Stamp{kMagic, kAbiMajor + 1, kAbiMinor, 100, 0}.matches(100)));
  EXPECT_FALSE((Stamp{kMagic + 1, kAbiMajor, kAbiMinor, 100, 0}.matches(100)));
}

TEST(NumberOf, KnowsTheTaskOfEveryAddressOfItsPartition) {
  SpaceHeader space{};
  space.capacity = 4;
  space.home_base = kSpaceBegin;
  space.range_base = kSpaceBegin + (uint64_t{1} << 40);
  space.range_bytes = uint64_t{16} << 30;
  for (uint32_t number = 0; number < space.capacity; ++number) {
    const uint64_t home = space.home_base + number * kHomeBytes;
    const uint64_t range = space.range_base + number * space.range_bytes;
    EXPECT_EQ(number_of(space, home), number);
    EXPECT_EQ(number_of(space, home + kHomeBytes - 1), number);
    EXPECT_EQ(number_of(space, range), number);
    EXPECT_EQ(number_of(space, range + space.range_bytes - 1), number);
  }
  EXPECT_EQ(number_of(space, space.home_base - 1), -1);
  EXPECT_EQ(number_of(space, space.home_base + 4 * kHomeBytes), -1);
  EXPECT_EQ(number_of(space, space.range_base - 1), -1);
  EXPECT_EQ(number_of(space, space.range_base + 4 * space.range_bytes), -1);
  EXPECT_EQ(number_of(space, 0), -1);
}

TEST(TaskRecord, LeavesRoomForItsFreeRanges) {
  EXPECT_LT(sizeof(TaskRecord), kRecordBytes / 2);
}

}  // namespace
}  // namespace nagaya::task
