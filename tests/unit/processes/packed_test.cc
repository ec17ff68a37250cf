// SPDX-License-Identifier: BSD-3-Clause
#include "processes/packed.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nagaya::processes {
namespace {

TEST(Packed, KeepsNumbersOfEveryWidthApart) {
  for (uint32_t bits = 0; bits <= 31; ++bits) {
    constexpr uint32_t kCount = 1000;
    std::vector<std::byte> array(packed_bytes(bits, kCount));
    std::mt19937 random(bits), again(bits);
    const uint32_t mask = (1u << bits) - 1;
    for (uint32_t n = 0; n < kCount; ++n)
      packed_put(array.data(), bits, n, static_cast<uint32_t>(random()) & mask);
    for (uint32_t n = 0; n < kCount; ++n)
      ASSERT_EQ(packed_get(array.data(), bits, n), again() & mask) << bits << " bits, number " << n;
  }
}

TEST(Packed, TakesNoMoreThanItsBitsAndOneWord) {
  EXPECT_EQ(packed_bytes(20, 1 << 20), (20 << 20) / 8 + 8);
  EXPECT_EQ(packed_bytes(1, 1), 16u);
  EXPECT_EQ(packed_bytes(31, 1ull << 31), 31 * (1ull << 28) + 8);
}

}  // namespace
}  // namespace nagaya::processes
