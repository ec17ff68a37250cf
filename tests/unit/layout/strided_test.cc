// SPDX-License-Identifier: BSD-3-Clause
#include "layout/strided.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace nagaya::layout {
namespace {

// Elements 0, 1, ... of four bytes.
std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

std::byte* bytes_of(std::vector<uint32_t>& all, size_t at) {
  return reinterpret_cast<std::byte*>(&all[at]);
}

TEST(StridedCopy, WholeRowsAreOneRun) {
  const Side rows[] = {{3, 40, 40}, {10, 4, 4}};
  EXPECT_TRUE(StridedCopy(4, rows).is_one_run());
  EXPECT_EQ(StridedCopy(4, rows).bytes(), 120u);
}

TEST(StridedCopy, OneIndexOfADimensionAddsNoLoop) {
  const Side row[] = {{1, 4000, 44}, {10, 4, 4}};
  EXPECT_TRUE(StridedCopy(4, row).is_one_run());
}

TEST(StridedCopy, CopiesABoxBetweenRowsOfDifferentLengths) {
  // 2 x 3 x 2 elements, from rows of 5 and planes of 20 to rows of 7 and planes of 21.
  std::vector<uint32_t> from = numbers(60), to(60, UINT32_MAX);
  const Side sides[] = {{2, 21 * 4, 20 * 4}, {3, 7 * 4, 5 * 4}, {2, 4, 4}};
  StridedCopy(4, sides).copy(bytes_of(to, 1), bytes_of(from, 2));
  std::vector<uint32_t> wanted(60, UINT32_MAX);
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 2; ++k)
        wanted[1 + 21 * i + 7 * j + k] = static_cast<uint32_t>(2 + 20 * i + 5 * j + k);
  EXPECT_EQ(to, wanted);
}

TEST(StridedCopy, WhatIsPackedIsUnpackedToTheSamePlaces) {
  std::vector<uint32_t> from = numbers(60), direct(60, 0), packed(12), unpacked(60, 0);
  const Side sides[] = {{2, 21 * 4, 20 * 4}, {3, 7 * 4, 5 * 4}, {2, 4, 4}};
  const StridedCopy box(4, sides);
  ASSERT_EQ(box.bytes(), packed.size() * 4);
  box.copy(bytes_of(direct, 0), bytes_of(from, 0));
  box.pack_from(bytes_of(packed, 0), bytes_of(from, 0));
  box.unpack_to(bytes_of(unpacked, 0), bytes_of(packed, 0));
  EXPECT_EQ(unpacked, direct);
  EXPECT_EQ(packed[2], 5u);
}

void add(void*, const void* in, void* inout, size_t count) {
  for (size_t n = 0; n < count; ++n)
    static_cast<uint32_t*>(inout)[n] += static_cast<const uint32_t*>(in)[n];
}

TEST(StridedCopy, CombinesElementsInPlaceOfCopies) {
  std::vector<uint32_t> from = numbers(60), to(60, 1000), packed(12), unpacked(60, 1000);
  const Side sides[] = {{2, 21 * 4, 20 * 4}, {3, 7 * 4, 5 * 4}, {2, 4, 4}};
  const StridedCopy box(4, sides, add);
  EXPECT_TRUE(box.combines());
  box.copy(bytes_of(to, 0), bytes_of(from, 0));
  box.pack_from(bytes_of(packed, 0), bytes_of(from, 0));
  EXPECT_EQ(packed[11], 31u);
  box.unpack_to(bytes_of(unpacked, 0), bytes_of(packed, 0));
  EXPECT_EQ(to, unpacked);
  EXPECT_EQ(to[21 + 14 + 1], 1031u);
  EXPECT_EQ(to[2], 1000u);
}

}  // namespace
}  // namespace nagaya::layout
