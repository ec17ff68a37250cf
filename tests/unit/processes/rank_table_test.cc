// SPDX-License-Identifier: BSD-3-Clause
#include "processes/rank_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "processes/tables.h"

namespace nagaya::processes {
namespace {

std::vector<uint32_t> numbers(uint32_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}
std::vector<uint32_t> shuffled(uint32_t count, uint32_t seed) {
  std::vector<uint32_t> all = numbers(count);
  std::shuffle(all.begin(), all.end(), std::mt19937(seed));
  return all;
}

void expect_order(const RankTable& table, const std::vector<uint32_t>& positions, uint32_t all) {
  ASSERT_EQ(table.size, positions.size());
  std::vector<int64_t> ranks(all, -ESRCH);
  for (uint32_t rank = 0; rank < table.size; ++rank) {
    ASSERT_EQ(table.position_of(rank), positions[rank]) << rank;
    ranks[positions[rank]] = rank;
  }
  for (uint32_t position = 0; position < all; ++position)
    ASSERT_EQ(table.rank_at(position), ranks[position]) << position;
}

class RankTableTest : public testing::Test {
 protected:
  static constexpr uint32_t kPositions = 6400;
  Owned<RankTable> table(const std::vector<uint32_t>& positions, uint32_t runs_max = 1024) const {
    auto result = built(RankPlan(listing(*nodes_, positions), runs_max));
    expect_order(*result, positions, kPositions);
    return result;
  }
  const Owned<NodeTable> nodes_ = equal_nodes(100, 64);
};

TEST_F(RankTableTest, TakesOneRunForARegularOrder) {
  EXPECT_EQ(table(numbers(kPositions))->run_count, 1u);
  std::vector<uint32_t> backward = numbers(kPositions);
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(table(backward)->run_count, 1u);
  EXPECT_EQ(table({17})->run_count, 1u);
  EXPECT_EQ(table({17, 4})->run_count, 1u);
}

TEST_F(RankTableTest, TakesFewBytesForARegularOrder) {
  EXPECT_LE(world_table(*equal_nodes(16384, 64))->head.bytes, 128u);
}

TEST_F(RankTableTest, MatchesAnEqualListOnly) {
  const auto even = rank_table(*nodes_, range(0, kPositions / 2, 2));
  std::vector<uint32_t> list = range(0, kPositions / 2, 2);
  EXPECT_TRUE(RankPlan(listing(*nodes_, list)).matches(*even));
  EXPECT_FALSE(RankPlan(listing(*nodes_, range(1, kPositions / 2, 2))).matches(*even));
  list.pop_back();
  EXPECT_FALSE(RankPlan(listing(*nodes_, list)).matches(*even));
}

TEST_F(RankTableTest, ListsProcesses) {
  const std::vector<Process> processes{{0, 0}, {3, 7}, {1, 2}, {0, 1}};
  const auto table = built(RankPlan({*nodes_, std::span(processes)}));
  EXPECT_EQ(positions_of(*table), (std::vector<int64_t>{0, 3 * 64 + 7, 64 + 2, 1}));
}

TEST_F(RankTableTest, RefusesWhatIsNotThere) {
  for (const Process wrong : {Process{100, 0}, Process{0, 64}, Process{UINT32_MAX, UINT32_MAX}}) {
    const std::vector<Process> processes{{0, 0}, wrong};
    EXPECT_EQ(RankPlan({*nodes_, std::span(processes)}).error(), -EINVAL);
  }
  EXPECT_EQ(error_of(RankPlan(listing(*nodes_, {0, kPositions}))), -EINVAL);
  EXPECT_EQ(error_of(RankPlan(listing(*nodes_, {}))), -EINVAL);
}

TEST_F(RankTableTest, RefusesAPositionThatComesTwice) {
  const auto error = [&](const std::vector<std::vector<uint32_t>>& parts, uint32_t runs_max) {
    std::vector<uint32_t> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return error_of(RankPlan(listing(*nodes_, all), runs_max));
  };
  EXPECT_EQ(error({{4, 4, 4}}, 1024), -EINVAL);
  EXPECT_EQ(error({{1, 2, 1}}, 1024), -EINVAL);
  EXPECT_EQ(error({range(0, 8), range(7, 8)}, 1024), -EINVAL);
  EXPECT_EQ(error({range(0, 16, 2), range(1, 8, 3)}, 1024), -EINVAL);
  EXPECT_EQ(error({range(0, 16, 2), range(1, 16, 2)}, 1024), 0) << "interleaved, all different";
  EXPECT_EQ(error({{9, 3, 7, 1}}, 0), 0) << "irregular";
  EXPECT_EQ(error({{9, 3, 7, 3}}, 0), -EINVAL);
}

TEST_F(RankTableTest, FindsRunsOutOfOrder) {
  std::vector<uint32_t> positions;
  for (uint32_t group = 100; group-- > 0;)
    for (uint32_t n = 0; n < 50; ++n) positions.push_back(group * 64 + n);
  const auto result = table(positions);
  EXPECT_EQ(result->run_count, 100u);
  EXPECT_EQ(result->interleaved, 0u);
}

TEST_F(RankTableTest, FindsInterleavedRuns) {
  std::vector<uint32_t> positions;
  for (uint32_t offset : {5u, 0u, 3u, 1u})
    for (uint32_t n = offset; n < kPositions; n += 7) positions.push_back(n);
  const auto result = table(positions);
  EXPECT_EQ(result->run_count, 4u);
  EXPECT_EQ(result->interleaved, 1u);
}

TEST_F(RankTableTest, PacksManyInterleavedRuns) {
  std::vector<uint32_t> positions;
  for (const uint32_t runs : {64u, 400u}) {
    positions.clear();
    for (uint32_t offset = 0; offset < runs; ++offset)
      for (uint32_t n = offset; n < kPositions; n += runs) positions.push_back(n);
    EXPECT_EQ(table(positions)->run_count, runs == 64 ? 64u : 0u);
  }
}

TEST_F(RankTableTest, PacksManyRuns) {
  std::vector<uint32_t> positions;
  for (uint32_t n = 0; n < kPositions; ++n)
    if (n % 50 != 0) positions.push_back(n);
  EXPECT_EQ(table(positions, 128)->run_count, 128u);
  EXPECT_EQ(table(positions, 127)->run_count, 0u);
}

TEST_F(RankTableTest, PacksARandomOrder) {
  const auto result = table(shuffled(kPositions, 1));
  EXPECT_EQ(result->run_count, 0u);
  EXPECT_EQ(result->hashed, 0u);
  EXPECT_LE(result->head.bytes, sizeof(RankTable) + 2 * kPositions * 13 / 8 + 32);
}

TEST_F(RankTableTest, HashesTheReverseOfASmallPartOfTheJob) {
  std::vector<uint32_t> few = shuffled(kPositions, 2);
  for (uint32_t size : {1300u, 64u, 5u, 2u}) {
    few.resize(size);
    const auto result = table(few, 0);
    EXPECT_EQ(result->hashed, 1u);
    EXPECT_LE(result->head.bytes, sizeof(RankTable) + size * 13 / 8 + size * 3 / 2 * 11 / 8 + 40);
  }
}

TEST_F(RankTableTest, PacksOnlyTheSpanOfItsPositions) {
  std::vector<uint32_t> one_node = shuffled(64, 3);
  for (uint32_t& position : one_node) position += 3200;
  const auto result = table(one_node, 0);
  EXPECT_EQ(result->position_bits, 6u);
  EXPECT_LE(result->head.bytes, sizeof(RankTable) + 48 + 56 + 32);
}

TEST_F(RankTableTest, KeepsWholeBlocksTogether) {
  for (uint32_t block : {64u, 48u, 2u, 1u}) {
    std::vector<uint32_t> positions;
    for (uint32_t group : shuffled(kPositions / block, block))
      for (uint32_t n = 0; n < block; ++n) positions.push_back(group * block + n);
    const auto result = table(positions, 8);
    EXPECT_EQ(1u << result->shift, block & -block) << block;
    positions.resize(positions.size() - block / 2);  // the last block is a part of one
    table(positions, 8);
  }
}

TEST_F(RankTableTest, RefusesRanksAndPositionsThatDoNotExist) {
  std::vector<uint32_t> part = shuffled(kPositions, 4);
  part.resize(3000);
  const int64_t wrong[] = {-1, -64, INT64_MIN, int64_t{1} << 31, int64_t{1} << 32, INT64_MAX};
  for (const auto& result : {table(numbers(3000)), table(part), table({part[0], part[1]}, 0)}) {
    EXPECT_EQ(result->position_of(result->size), -EINVAL);
    for (int64_t rank : wrong) EXPECT_EQ(result->position_of(rank), -EINVAL) << rank;
    for (int64_t position : wrong) EXPECT_EQ(result->rank_at(position), -ESRCH) << position;
    for (int64_t position = kPositions; position < kPositions + 100; ++position)
      EXPECT_EQ(result->rank_at(position), -ESRCH) << position;
  }
}

// Ten thousand small communicators of all shapes, each with every rank and position.
TEST_F(RankTableTest, AgreesWithADenseMapWhateverTheOrder) {
  std::mt19937 random(5);
  for (int round = 0; round < 10000; ++round) {
    const auto all = static_cast<uint32_t>(1 + random() % 200);
    std::vector<uint32_t> positions = numbers(all);
    for (auto swaps = random() % 8; swaps > 0; --swaps)
      std::swap(positions[random() % all], positions[random() % all]);
    if (random() % 2 == 0)
      std::rotate(positions.begin(), positions.begin() + random() % all, positions.end());
    if (random() % 4 == 0) std::shuffle(positions.begin(), positions.end(), random);
    positions.resize(1 + random() % all);
    const uint32_t runs_max = round % 2 == 0 ? 1024 : static_cast<uint32_t>(random() % 20);
    const auto result = built(RankPlan(listing(*nodes_, positions), runs_max));
    ASSERT_NO_FATAL_FAILURE(expect_order(*result, positions, all)) << "round " << round;
  }
}

}  // namespace
}  // namespace nagaya::processes
