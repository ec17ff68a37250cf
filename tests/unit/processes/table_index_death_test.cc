// SPDX-License-Identifier: BSD-3-Clause
// Death of a task at every instruction of interning and dropping a table. While it stands still,
// and after its death, the others go on at once and get right tables; its memory and references are
// back when its job has ended.
#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "processes/table_index.h"
#include "processes/tables.h"
#include "stepped_process.h"
#include "task/handmade_space.h"

namespace nagaya::processes {
namespace {

constexpr uint32_t kChunks = 24;
constexpr uint32_t kSlots = 64;
constexpr uint32_t kVictim = 0, kOther = 1;
const std::vector<uint32_t> kList = {7, 3, 31};

// One node's share of a job, with the task that will die.
struct Scene {
  task::HandmadeSpace space{kChunks};
  std::vector<uint64_t> words = std::vector<uint64_t>(TableIndex::bytes_for(kSlots) / 8);
  TableIndex* index = TableIndex::create(words.data(), kSlots);
  Owned<NodeTable> nodes = equal_nodes(4, 8);
  const RankTable* victims = nullptr;  // to which the victim has a reference
  RankPlan plan{listing(*nodes, kList)};

  Memory memory(uint32_t number) { return space_heap_of(space.task(number)); }
  const RankTable* intern(uint32_t number) {
    const RankTable* table = nullptr;
    return index->intern(plan, memory(number), table) == 0 ? table : nullptr;
  }
  void drop(uint32_t number, const RankTable* table) { index->drop(table->head, memory(number)); }
};

void intern_as_victim(void* scene) {
  static_cast<Scene*>(scene)->intern(kVictim);
}
void drop_as_victim(void* scene) {
  auto& here = *static_cast<Scene*>(scene);
  here.drop(kVictim, here.victims);
}

struct Case {
  const char* name;
  void (*prepare)(Scene&);
  void (*operation)(void*);
};
// Else the name of each test would hold the bytes of these pointers.
void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.name;
}

const Case kCases[] = {
    {"InternANewTable", [](Scene&) {}, intern_as_victim},
    {"InternANewPackedTable",
     [](Scene& scene) { scene.plan = RankPlan(listing(*scene.nodes, kList), 0); },
     intern_as_victim},
    {"InternAnothersTable", [](Scene& scene) { scene.intern(kOther); }, intern_as_victim},
    {"DropAShared",
     [](Scene& scene) {
       scene.victims = scene.intern(kVictim);
       scene.intern(kOther);
     },
     drop_as_victim},
    {"DropTheLastReference", [](Scene& scene) { scene.victims = scene.intern(kVictim); },
     drop_as_victim},
    {"DropTheLastReferenceToAnothersTable",
     [](Scene& scene) { scene.victims = scene.intern(kOther); }, drop_as_victim},
};

void expect_others_work(Scene& scene, int steps) {
  const RankTable* table = scene.intern(kOther);
  ASSERT_NE(table, nullptr) << steps;
  for (uint32_t rank = 0; rank < std::size(kList); ++rank) {
    ASSERT_EQ(table->position_of(rank), kList[rank]) << steps;
    ASSERT_EQ(table->rank_at(kList[rank]), rank) << steps;
  }
  ASSERT_EQ(scene.intern(kOther), table) << steps;
  scene.drop(kOther, table);
  scene.drop(kOther, table);
}

class TableIndexDeath : public testing::TestWithParam<Case> {};

TEST_P(TableIndexDeath, AtEveryInstructionStopsNobody) {
  SKIP_UNDER_THREAD_SANITIZER();
  bool finished = false;
  for (int steps = 0; !finished; steps += stride()) {
    Scene scene;
    GetParam().prepare(scene);
    {
      SteppedProcess victim(GetParam().operation, &scene);
      if (!victim.can_step()) GTEST_SKIP() << "ptrace is not permitted here";
      finished = !victim.step(steps);
      ASSERT_NO_FATAL_FAILURE(expect_others_work(scene, steps));
      victim.kill();
    }
    ASSERT_NO_FATAL_FAILURE(expect_others_work(scene, steps));
    for (uint32_t number : {kVictim, kOther}) task::reclaim_heap(scene.space.task(number));
    ASSERT_EQ(scene.space.free_chunks(), kChunks) << steps;
    ASSERT_LT(steps, 1000000) << "the operation does not end";
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, TableIndexDeath, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nagaya::processes
