// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/world.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "bootstrap/card.h"
#include "task/handmade_space.h"

namespace nagaya::bootstrap {
namespace {

class WorldTest : public testing::Test {
 protected:
  World& find_or_make(uint32_t number, uint32_t size) {
    return find_or_make(number, size, number % size);
  }
  World& find_or_make(uint32_t number, uint32_t size, uint32_t rank) {
    return World::find_or_make(space_.task(number), board_, job_, size, rank, is_first_);
  }
  // `nodes` nodes of 4 tasks, ranks dealt round robin. This is node 1.
  World& round_robin(uint32_t nodes) {
    World& world = find_or_make(0, 4 * nodes);
    world.nodes = nodes;
    world.node = 1;
    std::vector<processes::Process> by_rank;
    for (uint32_t rank = 0; rank < 4 * nodes; ++rank)
      by_rank.push_back({rank % nodes, rank / nodes});
    world.describe(by_rank, store(processes::space_heap_of(space_.task(0))));
    world.be_ready();
    return world;
  }

  processes::TableStore store(processes::Memory memory) const { return {board_.tables, memory}; }

  task::HandmadeSpace space_{64};
  const base::Mapping board_memory_ = llcl::create_board(space_.header());
  llcl::Board& board_ = *static_cast<llcl::Board*>(space_.header().upper_floors);
  std::string job_ = "prterun-17@1";
  bool is_first_ = false;
};

TEST_F(WorldTest, IsMadeOnceForAllTasks) {
  World& world = find_or_make(0, 8);
  EXPECT_TRUE(is_first_);
  EXPECT_EQ(&find_or_make(1, 8), &world);
  EXPECT_FALSE(is_first_);
  EXPECT_EQ(space_.chunks_of(1), 0u);
}

TEST_F(WorldTest, RefusesTasksThatSeeAnotherJob) {
  World& world = find_or_make(0, 8);
  EXPECT_THROW(find_or_make(1, 9), base::Error);
  world.stamp.major += 1;
  EXPECT_THROW(find_or_make(1, 8), base::Error);
}

TEST_F(WorldTest, OutlivesTheTaskThatHasMadeIt) {
  World& world = find_or_make(0, 2);
  world.describe(std::vector<processes::Process>{{0, 0}, {0, 1}},
                 store(processes::lasting_memory_of(space_.task(0))));
  world.be_ready();
  task::reclaim_heap(space_.task(0));
  ASSERT_EQ(World::latest(board_), &world);
  EXPECT_EQ(world.tables.rank_of({0, 1}), 1);
  EXPECT_EQ(find_or_make(1, 2).size, 2u);
}

TEST_F(WorldTest, TranslatesBothWays) {
  const World& world = round_robin(3);
  EXPECT_EQ(world.tasks_here, 4u);
  EXPECT_EQ(world.tables.ranks->run_count, 1u) << "as regular as its launcher";
  for (uint32_t rank = 0; rank < 12; ++rank) {
    processes::Process process;
    ASSERT_EQ(world.tables.process_of(rank, process), 0);
    EXPECT_EQ(process.node, rank % 3);
    EXPECT_EQ(process.task, rank / 3);
    EXPECT_EQ(world.tables.rank_of(process), rank);
  }
}

TEST_F(WorldTest, RefusesARankThatTwoProcessesHave) {
  World& world = find_or_make(0, 2);
  const std::vector<processes::Process> by_rank{{0, 1}, {0, 1}};
  EXPECT_THROW(world.describe(by_rank, store(processes::space_heap_of(space_.task(0)))),
               base::Error);
}

TEST_F(WorldTest, SaysWhyItHasFailed) {
  World& world = find_or_make(0, 2);
  world.throw_if_failed();
  world.fail(-ENOTSUP, std::string(1000, 'x').c_str());
  try {
    find_or_make(1, 2).throw_if_failed();
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), -ENOTSUP);
    EXPECT_EQ(error.what(), std::string(kReasonBytes - 1, 'x'));
  }
}

TEST_F(WorldTest, SaysTheFirstOfTwoReasons) {
  World& world = find_or_make(0, 2);
  world.fail(-ENOTSUP, "no network");
  world.fail(-EINVAL, "no table");
  try {
    world.throw_if_failed();
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), -ENOTSUP);
    EXPECT_EQ(error.what(), std::string("no network"));
  }
}

TEST_F(WorldTest, TheNextProgramsOfTheLaunchedProcessesHaveOneOfTheirOwn) {
  World& first = find_or_make(0, 2, 0);
  EXPECT_EQ(&find_or_make(1, 2, 1), &first);
  first.be_ready();
  World& second = find_or_make(2, 2, 0);
  EXPECT_TRUE(is_first_);
  EXPECT_NE(&second, &first);
  EXPECT_EQ(second.program, 2u);
  EXPECT_EQ(&find_or_make(1, 2, 1), &first) << "it has its place there";
  EXPECT_EQ(&find_or_make(3, 2, 1), &second);
}

TEST_F(WorldTest, RefusesASecondTaskOfARankWhileTheFirstIsAlive) {
  find_or_make(0, 2, 0);
  space_.task(0).state = task::TaskState::kRunning;
  EXPECT_THROW(find_or_make(1, 2, 0), base::Error);
  space_.task(0).state = task::TaskState::kEnded;
  find_or_make(1, 2, 0);
  EXPECT_TRUE(is_first_);
}

TEST_F(WorldTest, ANumberThatIsUsedAgainIsAnotherProgram) {
  World& first = find_or_make(0, 1, 0);
  EXPECT_EQ(&find_or_make(0, 1, 0), &first);
  space_.task(0).generation.fetch_add(1);
  EXPECT_NE(&find_or_make(0, 1, 0), &first);
}

TEST_F(WorldTest, ASpawnedJobOfEqualSizeHasOneOfItsOwn) {
  World& parents = find_or_make(0, 8);
  job_ = "prterun-17@2";
  World& children = find_or_make(4, 8);
  EXPECT_TRUE(is_first_);
  EXPECT_NE(&children, &parents);
  EXPECT_EQ(&find_or_make(5, 8), &children);
  EXPECT_EQ(World::latest(board_), &children);
  job_ = "prterun-17@1";
  EXPECT_EQ(&find_or_make(1, 8), &parents);
}

TEST_F(WorldTest, ALongNameOfAJobIsCut) {
  job_ = std::string(1000, 'x');
  World& world = find_or_make(0, 8);
  EXPECT_EQ(&find_or_make(1, 8), &world);
}

TEST(Card, IsReadAsItWasWritten) {
  const Card card =
      decode_card(encode({0x1122334455667788, 3, 4, 5, -ENOTSUP, std::string("a\0b", 3)}));
  EXPECT_EQ(card.space, 0x1122334455667788u);
  EXPECT_EQ(card.task, 3u);
  EXPECT_EQ(card.window, 4u);
  EXPECT_EQ(card.tuning, 5u);
  EXPECT_EQ(card.error, -ENOTSUP);
  EXPECT_EQ(card.text, std::string("a\0b", 3));
}

TEST(Card, OfAnotherVersionOrLengthIsRefused) {
  const std::string good = encode({1, 2, 3, 0, 0, "address"});
  for (size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_THROW(decode_card(good.substr(0, bytes)), base::Error) << bytes;
  EXPECT_THROW(decode_card(good + "x"), base::Error);
  std::string other = good;
  other[4] ^= 1;  // the version
  EXPECT_THROW(decode_card(other), base::Error);
}

}  // namespace
}  // namespace nagaya::bootstrap
