// SPDX-License-Identifier: BSD-3-Clause
#include "processes/description.h"

#include <gtest/gtest.h>

#include <numeric>

#include "processes/tables.h"

namespace nagaya::processes {
namespace {

using Positions = std::vector<int64_t>;

constexpr uint32_t kPositions = 32;

class DescriptionTest : public testing::Test {
 protected:
  Positions ranges(const RankTable* parent, const std::vector<Range>& ranges) const {
    return positions_of(*range_table(*nodes_, parent, ranges));
  }
  Positions list(const RankTable* parent, const std::vector<uint32_t>& ranks) const {
    return positions_of(*list_table(*nodes_, parent, ranks));
  }
  Positions without(const RankTable* parent, const std::vector<uint32_t>& removed) const {
    return positions_of(*rank_table(*nodes_, AllExcept{parent, removed}));
  }
  int error_of_ranges(const RankTable* parent, const std::vector<Range>& ranges) const {
    return error_of(RankPlan(*nodes_, Ranges{parent, ranges}));
  }
  int error_of_list(const RankTable* parent, const std::vector<uint32_t>& ranks) const {
    return error_of(RankPlan(*nodes_, Ranks{parent, ranks}));
  }
  int error_without(const RankTable* parent, const std::vector<uint32_t>& removed) const {
    return error_of(RankPlan(*nodes_, AllExcept{parent, removed}));
  }

  const Owned<NodeTable> nodes_ = equal_nodes(4, 8);
  const Owned<RankTable> odd_ = range_table(*nodes_, nullptr, {{1, 16, 2}});
  // Positions 20 .. 31, then 0 .. 9 downward: two runs.
  const Owned<RankTable> two_ = range_table(*nodes_, nullptr, {{20, 12, 1}, {9, 10, -1}});
};

TEST_F(DescriptionTest, NamesRangesOfPositions) {
  EXPECT_EQ(ranges(nullptr, {{0, 3, 1}}), (Positions{0, 1, 2}));
  EXPECT_EQ(ranges(nullptr, {{1, 3, 10}, {30, 3, -8}, {99, 0, 5}, {4, 1, 0}}),
            (Positions{1, 11, 21, 30, 22, 14, 4}));
}

TEST_F(DescriptionTest, NamesRangesOfRanks) {
  EXPECT_EQ(ranges(odd_.get(), {{0, 4, 1}}), (Positions{1, 3, 5, 7}));
  EXPECT_EQ(ranges(odd_.get(), {{15, 3, -7}}), (Positions{31, 17, 3}));
}

TEST_F(DescriptionTest, FollowsARangeThroughTheRunsOfItsParent) {
  const Positions parents = positions_of(*two_);
  for (int32_t stride : {1, 2, 3, 5, 7, 11, 12, 13, 21, -1, -2, -3, -5, -11, -12, -21})
    for (uint32_t first = 0; first < two_->size; ++first) {
      Positions expected;
      for (int64_t rank = first; rank >= 0 && rank < two_->size; rank += stride)
        expected.push_back(parents[static_cast<size_t>(rank)]);
      const auto count = static_cast<uint32_t>(expected.size());
      ASSERT_EQ(ranges(two_.get(), {{first, count, stride}}), expected) << first << " " << stride;
    }
}

TEST_F(DescriptionTest, NamesSingleRanks) {
  EXPECT_EQ(list(nullptr, {5}), (Positions{5}));
  EXPECT_EQ(list(odd_.get(), {0, 15, 3, 2}), (Positions{1, 31, 7, 5}));
}

TEST_F(DescriptionTest, LeavesRanksOut) {
  Positions all(kPositions);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(without(nullptr, {}), all);
  EXPECT_EQ(without(odd_.get(), {0, 1, 5, 7, 8, 15}),
            (Positions{5, 7, 9, 13, 19, 21, 23, 25, 27, 29}));
  std::vector<uint32_t> all_but_one(15);
  std::iota(all_but_one.begin(), all_but_one.end(), 1);
  EXPECT_EQ(without(odd_.get(), all_but_one), (Positions{1}));
}

TEST_F(DescriptionTest, ListsProcesses) {
  const std::vector<Process> processes{{0, 0}, {3, 7}, {1, 2}, {0, 1}};
  EXPECT_EQ(positions_of(*rank_table(*nodes_, Processes{processes})), (Positions{0, 31, 10, 1}));
}

TEST_F(DescriptionTest, MayHaveAPackedParent) {
  std::vector<uint32_t> scattered;
  for (uint32_t n = 0; n < kPositions; ++n) scattered.push_back(n * 13 % kPositions);
  const auto packed = built(RankPlan(*nodes_, Ranks{nullptr, scattered}, 0));
  ASSERT_EQ(packed->run_count, 0u);
  EXPECT_EQ(ranges(packed.get(), {{1, 3, 2}}), (Positions{13, 7, 1}));
  EXPECT_EQ(ranges(packed.get(), {{2, 3, -1}}), (Positions{26, 13, 0}));
}

TEST_F(DescriptionTest, RefusesRanksThatTheParentDoesNotHave) {
  EXPECT_EQ(error_of_ranges(nullptr, {{0, 33, 1}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(nullptr, {{32, 1, 1}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(nullptr, {{2, 4, -1}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(nullptr, {{0, UINT32_MAX, INT32_MAX}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(nullptr, {{UINT32_MAX, UINT32_MAX, INT32_MIN}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(odd_.get(), {{0, 17, 1}}), -EINVAL);
  EXPECT_EQ(error_of_list(odd_.get(), {0, 16}), -EINVAL);
  EXPECT_EQ(error_of_list(nullptr, {UINT32_MAX}), -EINVAL);
  EXPECT_EQ(error_without(odd_.get(), {16}), -EINVAL);
  EXPECT_EQ(error_without(odd_.get(), {15, UINT32_MAX}), -EINVAL);
}

TEST_F(DescriptionTest, RefusesProcessesThatTheJobDoesNotHave) {
  for (Process wrong : {Process{4, 0}, Process{0, 8}, Process{UINT32_MAX, UINT32_MAX}}) {
    const std::vector<Process> processes{{0, 0}, wrong};
    EXPECT_EQ(RankPlan(*nodes_, Processes{processes}).error(), -EINVAL);
  }
}

TEST_F(DescriptionTest, RefusesAListOfRemovedRanksThatDoesNotAscend) {
  EXPECT_EQ(error_without(nullptr, {3, 2}), -EINVAL);
  EXPECT_EQ(error_without(nullptr, {3, 3}), -EINVAL);
}

TEST_F(DescriptionTest, RefusesACommunicatorOfNobody) {
  EXPECT_EQ(error_of_ranges(nullptr, {}), -EINVAL);
  EXPECT_EQ(error_of_list(odd_.get(), {}), -EINVAL);
  std::vector<uint32_t> all(kPositions);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(error_without(nullptr, all), -EINVAL);
}

TEST_F(DescriptionTest, RefusesAPositionThatComesTwice) {
  EXPECT_EQ(error_of_ranges(nullptr, {{4, 5, 0}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(nullptr, {{0, 8, 1}, {7, 8, 1}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(nullptr, {{0, 16, 2}, {1, 8, 3}}), -EINVAL);
  EXPECT_EQ(error_of_ranges(nullptr, {{0, 16, 2}, {1, 16, 2}}), 0) << "interleaved, all different";
  EXPECT_EQ(error_of_list(nullptr, {1, 2, 1}), -EINVAL);
}

TEST_F(DescriptionTest, RefusesAPositionThatComesTwiceInAnIrregularMap) {
  std::vector<uint32_t> scattered;
  for (uint32_t n = 0; n < kPositions; ++n) scattered.push_back(n * 13 % kPositions);
  EXPECT_EQ(error_of(RankPlan(*nodes_, Ranks{nullptr, scattered}, 0)), 0);
  scattered.back() = scattered.front();
  EXPECT_EQ(error_of(RankPlan(*nodes_, Ranks{nullptr, scattered}, 0)), -EINVAL);
}

}  // namespace
}  // namespace nagaya::processes
