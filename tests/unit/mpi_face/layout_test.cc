// SPDX-License-Identifier: BSD-3-Clause
// layout_test.cc - layouts against a list of the offset of each byte.
#include "objects/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace nagaya::mpi {
namespace {

constexpr ptrdiff_t kMiddle = 1 << 16;  // of the memory: offsets may be negative
constexpr size_t kMostBytes = 2000;     // of the data of one element

// A layout and its oracle: where each byte of one element lies, in the order of the message.
struct Case {
  SharedLayout layout;
  ptrdiff_t extent;
  std::vector<ptrdiff_t> offsets;

  std::vector<ptrdiff_t> offsets_of(size_t count) const {
    std::vector<ptrdiff_t> all;
    for (size_t n = 0; n < count; ++n)
      for (const ptrdiff_t one : offsets) all.push_back(static_cast<ptrdiff_t>(n) * extent + one);
    return all;
  }
};

size_t below(std::mt19937& random, size_t most) {
  return random() % most;
}

ptrdiff_t random_step(std::mt19937& random, size_t bytes) {
  const auto dense = static_cast<ptrdiff_t>(bytes);
  const ptrdiff_t steps[] = {dense, dense, dense + 4, 2 * dense + 8, -dense, -dense - 3};
  return steps[below(random, std::size(steps))];
}

// Appends the bytes of copies of an older case to both.
void add(const Case& old, ptrdiff_t place, size_t count, ptrdiff_t stride, LayoutBuilder& builder,
         Case& made) {
  builder.add(place, old.layout, count, stride);
  for (size_t n = 0; n < count; ++n)
    for (const ptrdiff_t one : old.offsets)
      made.offsets.push_back(place + static_cast<ptrdiff_t>(n) * stride + one);
}

Case random_run(std::mt19937& random) {
  const size_t sizes[] = {1, 2, 4, 8, 12, 16};
  const size_t bytes = sizes[below(random, std::size(sizes))];
  LayoutBuilder builder;
  builder.add_runs(0, bytes);
  Case made{builder.finish(), static_cast<ptrdiff_t>(bytes), {}};
  for (size_t n = 0; n < bytes; ++n) made.offsets.push_back(static_cast<ptrdiff_t>(n));
  return made;
}

// Returns a vector, or a struct, of earlier cases.
Case random_combination(std::mt19937& random, const std::vector<Case>& earlier) {
  LayoutBuilder builder;
  Case made{nullptr, 0, {}};
  const size_t parts = below(random, 3) == 0 ? 1 + below(random, 12) : 1;
  auto place = static_cast<ptrdiff_t>(below(random, 20)) - 10;
  for (size_t n = 0; n < parts; ++n) {
    const Case& old = earlier[below(random, earlier.size())];
    const size_t room =
        (kMostBytes - made.offsets.size()) / std::max<size_t>(old.offsets.size(), 1);
    const size_t count = std::min(below(random, 6), room);
    const ptrdiff_t stride =
        below(random, 2) == 0 ? old.extent : random_step(random, old.offsets.size());
    add(old, place, count, stride, builder, made);
    const bool is_regular = below(random, 2) == 0;
    place += is_regular ? static_cast<ptrdiff_t>(count) * stride
                        : static_cast<ptrdiff_t>(below(random, 64));
  }
  made.layout = builder.finish();
  made.extent = random_step(random, made.offsets.size());
  return made;
}

std::vector<Case> random_cases(std::mt19937& random) {
  std::vector<Case> all{random_run(random), random_run(random)};
  while (all.size() < 12) all.push_back(random_combination(random, all));
  return all;
}

bool is_one_run(const std::vector<ptrdiff_t>& offsets) {
  for (size_t n = 1; n < offsets.size(); ++n)
    if (offsets[n] != offsets[n - 1] + 1) return false;
  return true;
}

// Returns the offsets that groups of runs name; the buffer is at address kMiddle.
std::vector<ptrdiff_t> offsets_of(const nagaya_runs* runs, size_t count) {
  std::vector<ptrdiff_t> all;
  for (size_t n = 0; n < count; ++n)
    for (size_t k = 0; k < runs[n].count * runs[n].bytes; ++k)
      all.push_back(reinterpret_cast<ptrdiff_t>(runs[n].first) - kMiddle +
                    static_cast<ptrdiff_t>(k / runs[n].bytes) * runs[n].stride +
                    static_cast<ptrdiff_t>(k % runs[n].bytes));
  return all;
}

template <class Check>
void for_random_cases(Check check) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    for (const Case& one : random_cases(random)) check(one, random);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

TEST(MpiLayout, KnowsItsBytesAndBounds) {
  for_random_cases([](const Case& one, std::mt19937&) {
    EXPECT_EQ(one.layout->bytes(), one.offsets.size());
    const auto [lowest, highest] = std::minmax_element(one.offsets.begin(), one.offsets.end());
    const bool is_empty = one.offsets.empty();
    EXPECT_EQ(one.layout->low(), is_empty ? 0 : *lowest);
    EXPECT_EQ(one.layout->high(), is_empty ? 0 : *highest + 1);
  });
}

TEST(MpiLayout, FindsDataThatAreOneRun) {
  for_random_cases([](const Case& one, std::mt19937&) {
    for (size_t count = 0; count < 4; ++count)
      EXPECT_EQ(one.layout->is_one_run(count, one.extent), is_one_run(one.offsets_of(count)))
          << count;
  });
}

TEST(MpiLayout, DescribesEachByteInTheOrderOfTheMessage) {
  size_t described = 0, all = 0;
  for_random_cases([&](const Case& one, std::mt19937& random) {
    nagaya_runs runs[32];
    const size_t count = below(random, 5);
    const size_t used = one.layout->describe(reinterpret_cast<void*>(kMiddle), count, one.extent,
                                             runs, std::size(runs));
    ASSERT_LE(used, std::size(runs));
    if (used != 0) {
      EXPECT_EQ(offsets_of(runs, used), one.offsets_of(count));
    }
    if (one.offsets.size() <= std::size(runs) && count == 1 && !one.offsets.empty()) {
      EXPECT_NE(used, 0u);
    }
    described += used != 0;
    ++all;
  });
  EXPECT_GT(described, all / 4);
}

TEST(MpiLayout, PacksFromAnyByteOn) {
  std::vector<std::byte> memory(2 * kMiddle);
  std::mt19937 filling(1);
  for (std::byte& one : memory) one = static_cast<std::byte>(filling());
  for_random_cases([&memory](const Case& one, std::mt19937& random) {
    const std::vector<ptrdiff_t> offsets = one.offsets_of(4);
    if (offsets.empty()) return;
    const size_t first = below(random, offsets.size()),
                 bytes = below(random, offsets.size() - first + 1);
    std::vector<std::byte> packed(bytes), expected;
    one.layout->pack(memory.data() + kMiddle, one.extent, first, bytes, packed.data());
    for (size_t n = first; n < first + bytes; ++n)
      expected.push_back(memory[static_cast<size_t>(kMiddle + offsets[n])]);
    EXPECT_EQ(packed, expected);
  });
}

TEST(MpiLayout, UnpacksPiecesAndTouchesNothingElse) {
  std::vector<std::byte> memory(2 * kMiddle), expected(2 * kMiddle);
  for_random_cases([&](const Case& one, std::mt19937& random) {
    const std::vector<ptrdiff_t> offsets = one.offsets_of(3);
    std::vector<std::byte> packed(offsets.size());
    for (std::byte& byte : packed) byte = static_cast<std::byte>(random());
    for (size_t n = 0; n < packed.size(); ++n)
      expected[static_cast<size_t>(kMiddle + offsets[n])] = packed[n];
    for (size_t first = 0, bytes = 0; first < packed.size(); first += bytes) {
      bytes = std::min(1 + below(random, 300), packed.size() - first);
      one.layout->unpack(memory.data() + kMiddle, one.extent, first, bytes, packed.data() + first);
    }
    EXPECT_EQ(memory == expected, true);
    for (const ptrdiff_t offset : offsets)
      memory[static_cast<size_t>(kMiddle + offset)] =
          expected[static_cast<size_t>(kMiddle + offset)] = {};
  });
}

// ---- loops that join ----------------------------------------------------------------------------

SharedLayout runs(size_t bytes, size_t count, ptrdiff_t stride) {
  LayoutBuilder builder;
  builder.add_runs(0, bytes, count, stride);
  return builder.finish();
}

SharedLayout copies(const SharedLayout& layout, size_t count, ptrdiff_t stride) {
  LayoutBuilder builder;
  builder.add(0, layout, count, stride);
  return builder.finish();
}

size_t groups_of(const SharedLayout& layout, size_t count, ptrdiff_t extent) {
  nagaya_runs found[32];
  return layout->describe(nullptr, count, extent, found, std::size(found));
}

TEST(MpiLayout, AVectorOfVectorsThatJoinIsOneGroup) {
  EXPECT_EQ(groups_of(copies(runs(8, 4, 16), 1000, 64), 1000, 64'000), 1u);
  EXPECT_EQ(groups_of(copies(runs(8, 4, 16), 5, 72), 1, 0), 5u);
}

TEST(MpiLayout, RowsOfAWholeBoxAreOneRun) {
  EXPECT_TRUE(copies(copies(runs(8, 10, 8), 20, 80), 30, 1600)->is_one_run(7, 48'000));
}

TEST(MpiLayout, RegularBlocksOfAListAreOneGroup) {
  LayoutBuilder blocks, vectors;
  for (ptrdiff_t n = 0; n < 100; ++n) {
    blocks.add_runs(n * 40, 4);
    vectors.add(n * 40, runs(4, 3, 8));
  }
  EXPECT_EQ(groups_of(blocks.finish(), 1, 0), 1u);
  EXPECT_EQ(groups_of(vectors.finish(), 1, 0), 0u);  // 100 groups of 3
}

TEST(MpiLayout, DescribesAsManyGroupsAsThereIsRoomFor) {
  LayoutBuilder builder;
  builder.add_runs(0, 4);
  builder.add_runs(8, 8);
  const SharedLayout pair = builder.finish();
  EXPECT_EQ(groups_of(copies(pair, 16, 24), 1, 0), 32u);
  EXPECT_EQ(groups_of(copies(pair, 17, 24), 1, 0), 0u);
}

TEST(MpiLayout, ALayoutInALayoutThirtyTimesOverStaysSmall) {
  SharedLayout layout = runs(4, 2, 12);
  ptrdiff_t extent = 20, high = 16;
  for (int n = 0; n < 30; ++n) {
    LayoutBuilder builder;
    builder.add(0, layout, 1);
    builder.add(extent + 4, layout, 1);
    layout = builder.finish();
    high += extent + 4;
    extent = 2 * extent + 12;
  }
  EXPECT_EQ(layout->bytes(), size_t{8} << 30);
  EXPECT_EQ(layout->high(), high);
}

TEST(MpiLayout, CountsAbove32BitsAreFoundWithoutWalking) {
  const size_t count = size_t{5} << 32;
  int32_t memory[4] = {1, 2, 3, 4}, found[2] = {};
  const SharedLayout every_second = copies(runs(4, 2, 8), count, 0);  // all at one place
  EXPECT_EQ(every_second->bytes(), count * 8);
  every_second->pack(memory, 0, count * 8 - 8, 8, found);
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(found[1], 3);
  nagaya_runs one;
  EXPECT_EQ(runs(4, count, 8)->describe(nullptr, 1, 0, &one, 1), 1u);
  EXPECT_EQ(one.count, count);
}

TEST(MpiLayout, ManyThreadsPackFromOneLayout) {
  std::mt19937 random(7);
  const std::vector<Case> cases = random_cases(random);
  std::vector<std::byte> memory(2 * kMiddle);
  for (std::byte& one : memory) one = static_cast<std::byte>(random());
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& mine : found)
    threads.emplace_back([&cases, &memory, &mine] {
      for (const Case& one : cases) {
        std::string packed(one.offsets.size() * 3, '\0');
        for (size_t first = 0; first < packed.size(); ++first)
          one.layout->pack(memory.data() + kMiddle, one.extent, first, 1, packed.data() + first);
        mine += packed;
      }
    });
  for (std::thread& one : threads) one.join();
  for (const std::string& mine : found) EXPECT_EQ(mine, found[0]);
}

}  // namespace
}  // namespace nagaya::mpi
