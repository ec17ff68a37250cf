// SPDX-License-Identifier: BSD-3-Clause
// The memory of a task that has ended while a large read was under way into it.
#include <sys/mman.h>

#include "delegatee/board_node.h"
#include "delegatee/fleet.h"
#include "task/space/space_memory.h"

namespace nagaya::delegatee {
namespace {

// Node 0 with a real board, and a peer that falls silent.
struct Node0 {
  static constexpr uint32_t kTask = 3;
  static constexpr size_t kBytes = 1 << 20;
  static constexpr mailbox::Owner kOwner = mailbox::Owner::task(kTask, 1);

  Node0()
      : space({.capacity = 8}),
        memory(llcl::create_board(space.header())),
        board(*static_cast<llcl::Board*>(space.header().upper_floors)),
        node(board),
        endpoints(fabric::open_all(network, 2)),
        peer(std::move(endpoints[1]), 1, 2, options),
        delegatee({*endpoints[0], 0, secrets_of(2), node, node, node, board.bells[0], board.load},
                  options),
        remote(kBytes, std::byte{7}),
        region(peer.regions.add(0, remote.data(), kBytes)),
        partition(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}

  // Pushed by the task's thread.
  void read(size_t bytes) {
    Command get = transfer(Op::kGet, {1, 0, region}, partition, bytes);
    get.requester = kTask;
    board.lanes->push(board.lanes->claim(kOwner), get);
  }
  void rounds() {
    for (int n = 0; n < 50; ++n) delegatee.round(), peer.delegatee.round();
  }
  // As the host does.
  void end_task() {
    node.note_dead(kTask, kOwner);
    delegatee.abandon(kTask);
  }

  const Options options{.probe_after_ms = 50, .fail_after_ms = 100};
  task::SpaceMemory space;
  base::Mapping memory;
  llcl::Board& board;
  BoardNode node;
  fabric::LoopbackNetwork network{2};
  Endpoints endpoints;
  TestNode peer;
  Delegatee delegatee;
  Bytes remote;
  uint32_t region;
  void* partition;
};

TEST(BoardNode, NotesTheFirstLostNodeOnly) {
  Node0 test;
  ASSERT_EQ(test.board.lost.load().error, 0);
  test.network.cut_link(0, 1);
  test.read(Node0::kBytes);
  ASSERT_TRUE(soon([&] { return test.rounds(), test.board.lost.load().error != 0; }));
  test.node.lost(0, -EPROTO);
  EXPECT_EQ(test.board.lost.load().node, 1u);
  EXPECT_EQ(test.board.lost.load().error, -ECONNRESET);
}

TEST(Release, OfAnEndedTaskComesWhenItsReadFromASilentNodeIsGivenUpAndNothingFaultsLater) {
  Node0 test;
  test.read(Node0::kBytes);
  test.rounds();  // the region is known now
  test.network.pause_link(0, 1);
  test.read(Node0::kBytes);
  test.rounds();
  test.end_task();
  test.rounds();
  EXPECT_TRUE(test.node.holds(Node0::kTask));
  EXPECT_TRUE(soon([&] { return test.rounds(), !test.node.holds(Node0::kTask); }, 5));
  ::munmap(test.partition, Node0::kBytes);
  test.network.resume_link(0, 1);
  test.rounds();
}

TEST(Release, OfATaskOfWhichNothingIsUnderWayComesWithTheNextRound) {
  Node0 test;
  test.end_task();
  EXPECT_TRUE(test.node.holds(Node0::kTask));
  test.delegatee.round();
  EXPECT_FALSE(test.node.holds(Node0::kTask));
}

TEST(Release, CommandsOfTheDeadInTheRingAreNotCarriedOut) {
  Node0 test;
  const auto ring = std::make_unique<llcl::Ring>();
  test.node.use(*ring);
  uint64_t done[2] = {};
  for (uint16_t task = Node0::kTask; task < Node0::kTask + 2; ++task) {
    Command fence = counted(command_to({1, 0, 0}, Op::kFence), done[task - Node0::kTask]);
    fence.requester = task;
    ring->push(task, fence);
  }
  test.end_task();
  test.node.reclaim(Node0::kTask);  // before the delegatee looks at the ring
  test.rounds();
  EXPECT_EQ(counts(done[0]).first, 0u);
  EXPECT_EQ(counts(done[1]).first, 1u);
}

}  // namespace
}  // namespace nagaya::delegatee
