// SPDX-License-Identifier: BSD-3-Clause
#include "processes/table_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "processes/tables.h"
#include "task/handmade_space.h"

namespace nagaya::processes {
namespace {

// Memory of malloc that knows its blocks. A freed block is overwritten first: a later reader
// notices.
struct KnownMemory {
  std::mutex lock;
  std::set<void*> blocks;
  size_t blocks_max = SIZE_MAX;

  ~KnownMemory() {
    for (void* block : blocks) std::free(block);
  }
  void* allocate(uint64_t bytes) {
    const std::lock_guard guard(lock);
    if (blocks.size() == blocks_max) return nullptr;
    return *blocks.insert(std::aligned_alloc(kTableAlignment, (bytes + 63) / 64 * 64)).first;
  }
  void free(void* block) {
    const std::lock_guard guard(lock);
    ASSERT_EQ(blocks.erase(block), 1u) << "freed twice";
    std::memset(block, 0xee, sizeof(RankTable));
    std::free(block);
  }
  Memory view() {
    return {
        this,
        [](void* self, uint64_t bytes) { return static_cast<KnownMemory*>(self)->allocate(bytes); },
        [](void* self, void* block) { static_cast<KnownMemory*>(self)->free(block); }};
  }
};

class TableIndexTest : public testing::Test {
 protected:
  static constexpr uint32_t kSlots = 256;

  // The ranks from `first` to the end of the job: many different communicators.
  const RankTable* intern_from(uint32_t first) {
    const std::vector<uint32_t> positions = range(first, nodes_->positions - first);
    const RankTable* table = nullptr;
    const RankPlan plan(listing(*nodes_, positions));
    EXPECT_EQ(index_->intern(plan, memory_.view(), table), 0);
    return table;
  }
  void drop(const RankTable* table) { index_->drop(table->head, memory_.view()); }
  uint32_t used_slots() const {
    uint32_t used = 0;
    for (uint32_t n = 0; n < kSlots; ++n) used += index_->slots[n].load() != 0;
    return used;
  }

  std::vector<uint64_t> words_ = std::vector<uint64_t>(TableIndex::bytes_for(kSlots) / 8);
  TableIndex* index_ = TableIndex::create(words_.data(), kSlots);
  KnownMemory memory_;
  const Owned<NodeTable> nodes_ = equal_nodes(100, 64);
};

TEST_F(TableIndexTest, GivesEqualContentOnce) {
  const RankTable* one = intern_from(5);
  EXPECT_EQ(intern_from(5), one);
  EXPECT_EQ(memory_.blocks.size(), 1u);
}

TEST_F(TableIndexTest, GivesOtherContentAnotherTable) {
  EXPECT_NE(intern_from(5), intern_from(6));
  EXPECT_EQ(memory_.blocks.size(), 2u);
}

TEST_F(TableIndexTest, FreesATableWithItsLastReference) {
  const RankTable* table = intern_from(5);
  intern_from(5);
  drop(table);
  EXPECT_EQ(memory_.blocks.size(), 1u);
  EXPECT_EQ(table->position_of(0), 5);
  drop(table);
  EXPECT_EQ(memory_.blocks.size(), 0u);
  EXPECT_EQ(used_slots(), 0u);
}

TEST_F(TableIndexTest, KeepsNodeTablesToo) {
  const std::vector<uint32_t> tasks(100, 64);
  const NodeTable *one = nullptr, *two = nullptr;
  ASSERT_EQ(index_->intern(NodePlan(tasks), memory_.view(), one), 0);
  ASSERT_EQ(index_->intern(NodePlan(tasks), memory_.view(), two), 0);
  EXPECT_EQ(one, two);
  EXPECT_EQ(memory_.blocks.size(), 1u);
}

TEST_F(TableIndexTest, GivesACopyOfItsOwnWhenTheWindowIsFull) {
  std::vector<const RankTable*> tables;
  for (uint32_t first = 0; first < 2 * kSlots; ++first) tables.push_back(intern_from(first));
  EXPECT_EQ(memory_.blocks.size(), 2 * kSlots);
  EXPECT_LE(used_slots(), kSlots);
  for (uint32_t first = 0; first < 2 * kSlots; ++first) {
    ASSERT_EQ(tables[first]->position_of(0), first);
    drop(tables[first]);
  }
  EXPECT_EQ(memory_.blocks.size(), 0u);
  EXPECT_EQ(used_slots(), 0u);
}

TEST_F(TableIndexTest, GivesASecondCopyWhenACountIsFull) {
  const RankTable* one = intern_from(5);
  auto& slot = index_->slots[one->head.slot];
  const uint64_t word = slot.load();
  slot.store(word | 0x3fffff);
  const RankTable* two = intern_from(5);
  EXPECT_NE(two, one);
  EXPECT_EQ(slot.load(), word | 0x3fffff);
  drop(two);
  EXPECT_EQ(memory_.blocks.size(), 1u);
}

TEST_F(TableIndexTest, SaysThatMemoryIsExhausted) {
  memory_.blocks_max = 1;
  intern_from(5);
  const std::vector<uint32_t> positions = range(6, 10);
  const RankTable* table = nullptr;
  const RankPlan plan(listing(*nodes_, positions));
  EXPECT_EQ(index_->intern(plan, memory_.view(), table), -ENOMEM);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(used_slots(), 1u);
}

TEST_F(TableIndexTest, LosesNothingForADescriptionThatIsWrong) {
  const RankTable* table = nullptr;
  std::vector<uint32_t> twice{9, 3, 7, 3};
  const RankPlan irregular(listing(*nodes_, twice), 0);
  EXPECT_EQ(index_->intern(irregular, memory_.view(), table), -EINVAL);
  twice[1] = 6400;
  const RankPlan beyond(listing(*nodes_, twice));
  EXPECT_EQ(index_->intern(beyond, memory_.view(), table), -EINVAL);
  EXPECT_EQ(memory_.blocks.size(), 0u);
  EXPECT_EQ(used_slots(), 0u);
}

TEST_F(TableIndexTest, LivesInTheSpaceHeap) {
  task::HandmadeSpace space;
  const std::vector<uint32_t> list{7, 1, 6400 - 1};
  const RankPlan plan(listing(*nodes_, list));
  const RankTable *one = nullptr, *two = nullptr;
  ASSERT_EQ(index_->intern(plan, space_heap_of(space.task(0)), one), 0);
  ASSERT_EQ(index_->intern(plan, space_heap_of(space.task(1)), two), 0);
  EXPECT_EQ(one, two);
  EXPECT_EQ(task::heap_owner(space.heap(), reinterpret_cast<uint64_t>(one)), 0);
  index_->drop(one->head, space_heap_of(space.task(0)));
  EXPECT_EQ(two->position_of(2), 6399);
  index_->drop(two->head, space_heap_of(space.task(1)));
  EXPECT_EQ(used_slots(), 0u);
}

TEST_F(TableIndexTest, RefusesStructuresOfAnotherVersion) {
  EXPECT_TRUE(index_->matches());
  index_->stamp.major += 1;
  EXPECT_FALSE(index_->matches());
  const RankTable* table = intern_from(5);
  EXPECT_TRUE(table->head.matches(RankTable::kKind, sizeof(RankTable)));
  EXPECT_FALSE(table->head.matches(NodeTable::kKind, sizeof(NodeTable)));
}

// Few contents, many threads: tables come and go all the time while others find them.
TEST_F(TableIndexTest, LosesNothingWhileManyThreadsInternAndDrop) {
  const auto work = [this](uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<const RankTable*> held;
    for (int n = 0; n < 20000; ++n) {
      if (held.size() < 6 && random() % 2 == 0) {
        const auto first = static_cast<uint32_t>(random() % 4);
        held.push_back(intern_from(first));
        ASSERT_EQ(held.back()->position_of(0), first);
      } else if (!held.empty()) {
        std::swap(held[random() % held.size()], held.back());
        const RankTable* table = held.back();
        ASSERT_EQ(table->size + table->position_of(0), nodes_->positions) << "freed while held";
        drop(table);
        held.pop_back();
      }
    }
    for (const RankTable* table : held) drop(table);
  };
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < 4; ++n) threads.emplace_back(work, n);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory_.blocks.size(), 0u);
  EXPECT_EQ(used_slots(), 0u);
}

TEST_F(TableIndexTest, EndsWithOneTableWhenManyThreadsInternTheSame) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> ready{0};
    const RankTable* tables[4];
    std::vector<std::thread> threads;
    for (auto& table : tables)
      threads.emplace_back([&] {
        ++ready;
        while (ready != 4) std::this_thread::yield();
        table = intern_from(9);
      });
    for (std::thread& thread : threads) thread.join();
    for (const RankTable* table : tables) ASSERT_EQ(table, tables[0]);
    ASSERT_EQ(memory_.blocks.size(), 1u);
    for (const RankTable* table : tables) drop(table);
    ASSERT_EQ(memory_.blocks.size(), 0u);
  }
}

}  // namespace
}  // namespace nagaya::processes
