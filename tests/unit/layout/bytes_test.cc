// SPDX-License-Identifier: BSD-3-Clause
#include "layout/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nagaya::layout {
namespace {

constexpr size_t kPageBytes = 4096;

std::vector<uint8_t> numbered(size_t bytes) {
  std::vector<uint8_t> all(bytes);
  for (size_t n = 0; n < bytes; ++n) all[n] = static_cast<uint8_t>(n % 251);
  return all;
}

// Copies each length from and to any place of a page's beginning.
TEST(CopyBytes, CopiesAllAndNoMoreFromAnyPlaceInAPage) {
  const std::vector<uint8_t> source = numbered(4 * kPageBytes);
  for (const size_t bytes : {0, 1, 64, 2047, 2048, 2049, 2112, 4096, 10000})
    for (const size_t from : {0, 1, 40})
      for (const size_t further : {0, 1, 8, 16, 31, 63, 64, 2048, 4095}) {
        std::vector<uint8_t> target(source.size() + 2 * kPageBytes, 0xff);
        // The copy's target lies `further` bytes further on in its page than its source does.
        const auto page = reinterpret_cast<uintptr_t>(target.data()) % kPageBytes;
        const auto wanted =
            (reinterpret_cast<uintptr_t>(source.data()) + from + further) % kPageBytes;
        const size_t to = (wanted + kPageBytes - page) % kPageBytes;
        copy_bytes(target.data() + to, source.data() + from, bytes);
        std::vector<uint8_t> expected(target.size(), 0xff);
        std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), bytes,
                    expected.begin() + static_cast<ptrdiff_t>(to));
        ASSERT_EQ(target, expected) << bytes << " bytes, from " << from << ", further " << further;
      }
}

TEST(CopyBytes, CopiesSoMuchThatItPassesByTheCaches) {
  constexpr size_t kBytes = 17 << 20;
  const std::vector<uint8_t> source = numbered(kBytes + 64);
  for (const size_t to : {0, 1, 63})
    for (const size_t from : {0, 1, 40}) {
      std::vector<uint8_t> target(kBytes + 128, 0xff), expected = target;
      copy_bytes(target.data() + to, source.data() + from, kBytes - 1);
      std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), kBytes - 1,
                  expected.begin() + static_cast<ptrdiff_t>(to));
      ASSERT_TRUE(target == expected) << "to " << to << ", from " << from;
    }
}

TEST(CopyBytes, TheTwoMayOverlap) {
  for (const size_t further : {1, 16, 63, 100, 5000}) {
    std::vector<uint8_t> forwards = numbered(4 * kPageBytes), backwards = forwards;
    const std::vector<uint8_t> before = forwards;
    const auto distance = static_cast<ptrdiff_t>(further);
    copy_bytes(forwards.data() + further, forwards.data(), 2 * kPageBytes);
    EXPECT_TRUE(
        std::equal(before.begin(), before.begin() + 2 * kPageBytes, forwards.begin() + distance));
    copy_bytes(backwards.data(), backwards.data() + further, 2 * kPageBytes);
    EXPECT_TRUE(std::equal(before.begin() + distance, before.begin() + distance + 2 * kPageBytes,
                           backwards.begin()));
  }
}

TEST(CopyBytes, KnowsThePlacesThatAreSlow) {
  const std::vector<uint8_t> page(2 * kPageBytes);
  const uint8_t* const from = page.data() + 100;
  EXPECT_FALSE(is_slow_by_string_move(from, from));
  EXPECT_TRUE(is_slow_by_string_move(from + 1, from));
  EXPECT_TRUE(is_slow_by_string_move(from + kPageBytes + 16, from));
  EXPECT_FALSE(is_slow_by_string_move(from + 64, from));
  EXPECT_FALSE(is_slow_by_string_move(from - 16, from));
}

}  // namespace
}  // namespace nagaya::layout
