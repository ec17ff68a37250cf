// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/region.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace nagaya::llcl {
namespace {

using mailbox::Owner;

constexpr Owner kThird = Owner::task(3, 1);

class RegionTest : public testing::Test {
 protected:
  // As the host has it: zeros.
  std::unique_ptr<RegionTable> table_ = std::make_unique<RegionTable>();
  std::byte memory_[100]{};
};

TEST_F(RegionTest, FindsEveryByteOfARegionAndNoneBeside) {
  const uint32_t id = table_->add(kThird, memory_, sizeof memory_);
  EXPECT_EQ(table_->find(id, 3, 0, 100).address, memory_);
  EXPECT_EQ(table_->find(id, 3, 99, 1).address, memory_ + 99);
  EXPECT_EQ(table_->find(id, 3, 100, 0).error, 0);
  for (const auto& [offset, bytes] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 101}, {100, 1}, {101, 0}, {UINT64_MAX, 2}, {2, UINT64_MAX}, {UINT64_MAX, 0}})
    EXPECT_EQ(table_->find(id, 3, offset, bytes).error, -EINVAL) << offset << " " << bytes;
}

TEST_F(RegionTest, KnowsARegionByItsTaskOnly) {
  const uint32_t id = table_->add(kThird, memory_, sizeof memory_);
  for (uint32_t task : {0u, 2u, 4u, 0xffffu, 65539u, UINT32_MAX})
    EXPECT_EQ(table_->find(id, task, 0, 1).error, -EINVAL) << task;
}

TEST_F(RegionTest, FindsNothingBehindANumberThatWasNeverGiven) {
  for (uint32_t id : {RegionTable::kNone, 1u, 1u << 16, UINT32_MAX})
    EXPECT_EQ(table_->find(id, 3, 0, 1).error, -EINVAL) << id;
}

TEST_F(RegionTest, AnOldNumberIsNotFoundWhenItsEntryIsUsedAgain) {
  std::set<uint32_t> old;
  for (uint32_t n = 0; n < RegionTable::kRegions + 10; ++n) {
    const uint32_t id = table_->add(kThird, memory_, 1);
    EXPECT_TRUE(old.insert(id).second);
    EXPECT_EQ(table_->remove(kThird, id), 0);
    EXPECT_EQ(table_->remove(kThird, id), -EINVAL);
    EXPECT_EQ(table_->find(id, 3, 0, 1).error, -EINVAL);
  }
}

TEST_F(RegionTest, OnlyItsOwnerRemovesARegion) {
  const uint32_t id = table_->add(kThird, memory_, 1);
  EXPECT_EQ(table_->remove(Owner::task(3, 2), id), -EINVAL);
  EXPECT_EQ(table_->remove(Owner::task(4, 1), id), -EINVAL);
  EXPECT_EQ(table_->find(id, 3, 0, 1).error, 0);
}

TEST_F(RegionTest, IsFullAfter65536AndEmptyWhenTheOwnerHasDied) {
  for (uint32_t n = 0; n < RegionTable::kRegions; ++n)
    ASSERT_NE(table_->add(n % 2 == 0 ? kThird : Owner::task(4, 1), memory_, 1), RegionTable::kNone);
  EXPECT_EQ(table_->add(kThird, memory_, 1), RegionTable::kNone);
  table_->remove_all(kThird);
  for (uint32_t n = 0; n < RegionTable::kRegions / 2; ++n)
    ASSERT_NE(table_->add(Owner::task(5, 1), memory_, 1), RegionTable::kNone);
  EXPECT_EQ(table_->add(kThird, memory_, 1), RegionTable::kNone);
}

TEST_F(RegionTest, HasRoomAgainWhenOneIsRemoved) {
  uint32_t id = RegionTable::kNone;
  for (uint32_t n = 0; n < RegionTable::kRegions; ++n) id = table_->add(kThird, memory_, 1);
  for (int round = 0; round < 3; ++round) {
    for (int n = 0; n < 3; ++n) EXPECT_EQ(table_->add(kThird, memory_, 1), RegionTable::kNone);
    EXPECT_EQ(table_->remove(kThird, id), 0);
    EXPECT_NE(id = table_->add(kThird, memory_, 1), RegionTable::kNone);
  }
}

TEST_F(RegionTest, ThreadsThatAddAndRemoveAtOnceNeverShareAnEntry) {
  constexpr int kThreads = 4, kRounds = 20000;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t task = 0; task < kThreads; ++task)
    threads.emplace_back([&, task] {
      std::byte own[8];
      const Owner owner = Owner::task(task, 1);
      for (int n = 0; n < kRounds; ++n) {
        const uint32_t id = table_->add(owner, own, sizeof own);
        const Found found = table_->find(id, task, 4, 4);
        if (found.address != own + 4 || table_->remove(owner, id) != 0) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace nagaya::llcl
