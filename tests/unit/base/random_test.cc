// SPDX-License-Identifier: BSD-3-Clause
#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace nagaya::base {
namespace {

TEST(Random, FillsEveryByteAndNoOther) {
  std::array<uint8_t, 24> bytes{};
  std::array<bool, 24> changed{};
  for (int n = 0; n < 64; ++n) {
    fill_random({bytes.data() + 4, 16});
    for (size_t at = 0; at < bytes.size(); ++at) changed[at] = changed[at] || bytes[at] != 0;
  }
  for (size_t at = 0; at < bytes.size(); ++at) EXPECT_EQ(changed[at], at >= 4 && at < 20) << at;
}

TEST(Random, NumbersBelowABoundAreAllOfThem) {
  std::set<uint64_t> seen;
  for (int n = 0; n < 1000; ++n) seen.insert(random_below(10));
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(*seen.rbegin(), 9u);
}

TEST(Random, NumbersDiffer) {
  std::set<uint64_t> seen;
  for (int n = 0; n < 100; ++n) seen.insert(random_number());
  EXPECT_EQ(seen.size(), 100u);
}

}  // namespace
}  // namespace nagaya::base
