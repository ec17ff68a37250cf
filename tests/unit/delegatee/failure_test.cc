// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <random>

#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

using Clock = std::chrono::steady_clock;

using Lost = std::vector<std::pair<uint32_t, int>>;

// A thread of a loaded machine may not run for a while: where no node is silent, none may be found
// to be; where one is, the others answer within a second.
constexpr uint32_t kNever = 600'000, kLong = 1'000, kShort = 250;  // [ms]

class Failure : public ::testing::TestWithParam<Notification> {
 protected:
  static Options options(uint32_t fail_after_ms = kNever) {
    Options options{.probe_after_ms = 50, .fail_after_ms = fail_after_ms};
    options.notification = GetParam();
    return options;
  }
  explicit Failure(const Options& chosen = options())
      : memory(1 << 17), local(1 << 17), fleet(3, chosen) {
    for (uint32_t node = 0; node < 3; ++node)
      region = fleet[node].regions.add(0, memory.data(), memory.size());
  }
  int run(const Command& command) {
    Flag flag;
    fleet[0].push(1, flagged(command, flag));
    return flag.wait();
  }
  Command get(uint32_t node, size_t bytes = 8) {
    // Large ones apart: on this network they are written by the other node's thread.
    return transfer(Op::kGet, {node, 0, region}, local.data() + (bytes > 4096 ? 8192 : 0), bytes);
  }

  // From the same lane, in turn.
  void push_of_two_tasks() {
    for (uint32_t n = 0; n < flags.size(); ++n)
      fleet[0].push(1, flagged(get(1), flags[n]), n % 2 ? 3 : 1);
  }
  // One, while nothing comes from the other node: the other's commands are carried out, no more.
  void end_one_of_two_tasks() {
    ASSERT_TRUE(soon([&] { return fleet[0].lanes[1].lag() == 0; }));
    fleet[0].delegatee.abandon(3);
    ASSERT_TRUE(soon([&] { return fleet[0].delivery.has_released(3); }));
    fleet.network.resume_link(0, 1);
    EXPECT_EQ(run(command_to({1, 0, 0}, Op::kFence)), 0);
    for (uint32_t n = 0; n < flags.size(); ++n) EXPECT_EQ(flags[n].now(), n % 2 ? 0 : 1);
  }

  // A fence behind a command whose callback finds no room, and before another command.
  void push_a_fence() {
    fleet[0].delivery.set_room(0);
    Command first = get(1);
    first.completion_kind = Completion::kCallback;
    first.completion = 1;
    fleet[0].push(1, first);
    fleet[0].push(1, flagged(command_to({1, 0, 0}, Op::kFence), fence));
    fleet[0].push(1, flagged(get(1), last));
  }

  Bytes memory, local;
  Flag fence, last;
  std::array<Flag, 32> flags;
  Fleet fleet;
  uint32_t region;
};

const auto kNotifications =
    ::testing::Values(Notification::kPolling, Notification::kKernel, Notification::kAutomatic);

INSTANTIATE_TEST_SUITE_P(All, Failure, kNotifications);

// Some node is silent.
class Silence : public Failure {
 protected:
  Silence() : Failure(options(kLong)) {}
};

INSTANTIATE_TEST_SUITE_P(All, Silence, kNotifications);

// All nodes are served by the test's own thread, by turns: none is silent because another one runs.
class FailureByTurns : public Failure {
 protected:
  FailureByTurns() : Failure(options(kShort)) {}
  // Far beyond the time after which a silent node has failed.
  void serve_for_long(auto serve) {
    const auto end = Clock::now() + std::chrono::milliseconds(2 * kShort + 100);
    while (Clock::now() < end) serve();
  }
};

INSTANTIATE_TEST_SUITE_P(All, FailureByTurns, kNotifications);

class FailureWithLittleCredit : public Failure {
 protected:
  static Options options() {
    Options options = Failure::options();
    options.credit_commands = 4;
    options.pending_max = 4;
    return options;
  }
  FailureWithLittleCredit() : Failure(options()) {}
};

INSTANTIATE_TEST_SUITE_P(All, FailureWithLittleCredit, ::testing::Values(Notification::kKernel));

TEST_P(Failure, OfACutLinkEndsEverythingPendingAndEverythingLater) {
  fleet.start();
  ASSERT_EQ(run(get(1, 100000)), 0);
  fleet.network.pause_link(0, 1);
  Flag flags[10];
  for (int n = 0; n < 9; ++n) fleet[0].push(0, flagged(get(1, n % 3 ? 8 : 100000), flags[n]));
  fleet[0].push(0, flagged(command_to({1, 0, 0}, Op::kFence), flags[9]));
  fleet.network.cut_link(0, 1);
  for (Flag& flag : flags) EXPECT_EQ(flag.wait(), -ECONNRESET);
  EXPECT_EQ(run(get(1)), -ECONNRESET);
  EXPECT_EQ(run(get(1, 100000)), -ECONNRESET);
  EXPECT_EQ(run(command_to({1, 0, 0}, Op::kFence)), -ECONNRESET);
  EXPECT_EQ(run(get(2)), 0);
  EXPECT_EQ(fleet[0].delivery.lost_nodes(), (Lost{{1, -ECONNRESET}}));
}

TEST_P(Silence, OfASilentNodeIsFoundWithinTheTimeAndIsForEver) {
  fleet.start();
  ASSERT_EQ(run(get(1, 100000)), 0);
  ASSERT_EQ(run(get(2)), 0);  // in its rounds nothing of node 1 is awaited
  fleet.network.pause_link(0, 1);
  const auto start = Clock::now();
  Flag flags[10];
  for (int n = 0; n < 9; ++n) fleet[0].push(0, flagged(get(1, n % 3 ? 8 : 100000), flags[n]));
  fleet[0].push(0, flagged(command_to({1, 0, 0}, Op::kFence), flags[9]));
  for (Flag& flag : flags) EXPECT_EQ(flag.wait(), -EHOSTUNREACH);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(kLong));
  EXPECT_EQ(run(get(1)), -EHOSTUNREACH);
  fleet.network.resume_link(0, 1);
  for (int n = 0; n < 20; ++n) {
    EXPECT_EQ(run(get(1)), -EHOSTUNREACH);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(run(get(2)), 0);
}

TEST_P(FailureByTurns, IsNotDeclaredOfANodeThatAnswersTheProbe) {
  fleet[1].delivery.set_room(0);  // its task is slow, the node is not
  Flag flag;
  fleet[0].push(0, flagged(with_payload(Op::kActiveMessage, {1, 0, 0}, "x", 1), flag));
  serve_for_long([&] { fleet.round(); });
  EXPECT_EQ(flag.now(), 0);
  fleet[1].delivery.set_room(1);
  EXPECT_TRUE(soon([&] { return fleet.round(), flag.now() != 0; }));
  EXPECT_EQ(flag.wait(), 0);
}

TEST_P(FailureByTurns, ASilenceInWhichNothingIsPendingIsNone) {
  const auto run_by_turns = [&] {
    Flag flag;
    fleet[0].push(1, flagged(get(1), flag));
    EXPECT_TRUE(soon([&] { return fleet.round(), flag.now() != 0; }));
    return flag.wait();
  };
  ASSERT_EQ(run_by_turns(), 0);
  const uint64_t messages = fleet[0].delegatee.batches();
  fleet.network.pause_link(0, 1);
  serve_for_long([&] { fleet[0].delegatee.round(); });
  fleet.network.resume_link(0, 1);
  EXPECT_EQ(fleet[0].delegatee.batches(), messages);
  EXPECT_EQ(run_by_turns(), 0);
}

TEST_P(Silence, OfTheNeighbourIsFoundWhileSomebodyWaits) {
  fleet[0].load.waiting = 1;
  fleet.start();
  ASSERT_TRUE(soon([&] { return fleet[0].delegatee.batches() >= 3; }));  // it answers
  ASSERT_TRUE(fleet[0].delivery.lost_nodes().empty());
  fleet.network.pause_link(0, 1);
  EXPECT_TRUE(soon([&] { return !fleet[0].delivery.lost_nodes().empty(); }));
  EXPECT_EQ(fleet[0].delivery.lost_nodes(), (Lost{{1, -EHOSTUNREACH}}));
  EXPECT_EQ(run(get(1)), -EHOSTUNREACH);
  EXPECT_EQ(run(get(2)), 0);
  EXPECT_TRUE(fleet[1].delivery.lost_nodes().empty());
}

TEST_P(Silence, OfTheNeighbourIsFoundWhenSomebodyBeginsToWait) {
  fleet.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(fleet[0].delegatee.batches(), 0);
  fleet.network.pause_link(0, 1);
  fleet[0].load.waiting = 1;
  EXPECT_TRUE(soon([&] { return !fleet[0].delivery.lost_nodes().empty(); }));
}

TEST_P(FailureByTurns, IsNotDeclaredOfANodeThatWasSuspendedTogetherWithThisOne) {
  fleet[0].load.waiting = 1;
  Delegatee& self = fleet[0].delegatee;
  ASSERT_TRUE(soon([&] { return self.round(), self.batches() == 1; }));  // a probe
  std::this_thread::sleep_for(std::chrono::milliseconds(2 * kShort));
  for (int n = 0; n < 10; ++n) self.round();
  EXPECT_TRUE(fleet[0].delivery.lost_nodes().empty());
  for (int n = 0; n < 10; ++n) fleet.round();
  EXPECT_TRUE(fleet[0].delivery.lost_nodes().empty());
}

TEST_P(Failure, IsNoneOfTheOthersWhenTheOwnNodeStops) {
  fleet[0].load.waiting = 1;
  fleet.start();
  fleet[0].stop();
  EXPECT_TRUE(fleet[0].delivery.lost_nodes().empty());
}

TEST_P(Failure, StopEndsWhatIsPending) {
  fleet.network.pause_link(0, 1);
  fleet.start();
  Flag flags[100];
  for (Flag& flag : flags) fleet[0].push(0, flagged(get(1), flag));
  fleet[0].stop();
  for (Flag& flag : flags) EXPECT_EQ(flag.now(), -ESHUTDOWN);
}

TEST_P(Failure, AnEndedTasksCommandsLeaveNoTrace) {
  fleet.network.pause_link(0, 1);
  fleet.start();
  Flag flags[40];
  const Bytes untouched = local = pattern(local.size(), 9);
  for (Flag& flag : flags) fleet[0].push(3, flagged(get(1), flag));
  ASSERT_TRUE(soon([&] { return fleet[0].lanes[3].lag() == 0; }));
  fleet[0].delegatee.abandon(3);
  ASSERT_TRUE(soon([&] { return fleet[0].delivery.has_released(3); }));
  fleet.network.resume_link(0, 1);
  EXPECT_EQ(run(command_to({1, 0, 0}, Op::kFence)), 0);
  Bytes other(8);
  EXPECT_EQ(run(transfer(Op::kGet, {1, 0, region}, other.data(), 8)), 0);
  for (Flag& flag : flags) EXPECT_EQ(flag.now(), 0);
  EXPECT_TRUE(local == untouched);
}

TEST_P(Failure, AnEndedTaskIsNotReleasedWhileTheFabricHasItsMemory) {
  fleet.start();
  ASSERT_EQ(run(get(1, 100000)), 0);
  fleet.network.pause_link(0, 1);
  Flag flag;
  fleet[0].push(3, flagged(get(1, 100000), flag));
  ASSERT_TRUE(soon([&] { return fleet[0].lanes[3].lag() == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  fleet[0].delegatee.abandon(3);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(fleet[0].delivery.has_released(3));
  fleet.network.resume_link(0, 1);
  EXPECT_TRUE(soon([&] { return fleet[0].delivery.has_released(3); }));
  EXPECT_EQ(flag.now(), 0);
}

TEST_P(Silence, AnEndedTaskIsReleasedEvenWhenTheNodeThatHasItsMemoryIsSilent) {
  fleet.start();
  ASSERT_EQ(run(get(1, 100000)), 0);
  fleet.network.pause_link(0, 1);
  Flag flag;
  fleet[0].push(3, flagged(get(1, 100000), flag));
  ASSERT_TRUE(soon([&] { return fleet[0].lanes[3].lag() == 0; }));
  fleet[0].delegatee.abandon(3);
  EXPECT_TRUE(soon([&] { return fleet[0].delivery.has_released(3); }));
  EXPECT_EQ(flag.now(), 0);
}

TEST_P(Failure, LeavesAFenceBehindTheCommandsThatItWaitsFor) {
  fleet.start();
  ASSERT_EQ(run(get(1)), 0);
  fleet.network.pause_link(0, 1);
  push_a_fence();
  fleet.network.cut_link(0, 1);
  EXPECT_EQ(last.wait(), -ECONNRESET);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(fence.now(), 0);
  fleet[0].delivery.set_room(1);
  EXPECT_EQ(fence.wait(), -ECONNRESET);
}

TEST_P(Failure, LeavesALaterFenceBehindThemToo) {
  fleet.start();
  fleet.network.cut_link(0, 1);
  ASSERT_TRUE(soon([&] { return run(get(1)) == -ECONNRESET; }));
  push_a_fence();
  EXPECT_EQ(last.wait(), -ECONNRESET);
  EXPECT_EQ(fence.now(), 0);
  fleet[0].delivery.set_room(1);
  EXPECT_EQ(fence.wait(), -ECONNRESET);
}

TEST_P(Failure, AnEndedTasksCommandsAreFoundInAnyLane) {
  fleet.network.pause_link(0, 1);
  fleet.start();
  push_of_two_tasks();
  end_one_of_two_tasks();
}

TEST_P(FailureWithLittleCredit, AnEndedTasksCommandsAreFoundAmongThoseThatAreHeldBack) {
  fleet.network.pause_link(0, 1);
  push_of_two_tasks();
  fleet.start();
  end_one_of_two_tasks();
}

TEST_P(Failure, ACommandOfNoTaskIsCarriedOutLikeAnyOther) {
  fleet.start();
  Flag flag;
  fleet[0].push(1, flagged(get(1), flag), 0xffff);
  EXPECT_EQ(flag.wait(), 0);
  fleet[0].delegatee.abandon(3);
  EXPECT_TRUE(soon([&] { return fleet[0].delivery.has_released(3); }));
}

TEST_P(FailureWithLittleCredit, OfATaskToTakeItsCallbacksStopsNoOtherTask) {
  fleet[0].delivery.set_room(0);
  fleet.start();
  Command late = get(1);
  late.completion_kind = Completion::kCallback;
  for (late.completion = 1; late.completion <= 20; ++late.completion) fleet[0].push(2, late);
  EXPECT_EQ(run(get(1)), 0);
  EXPECT_EQ(run(command_to({1, 0, 0}, Op::kFence)), 0);
  fleet[0].delivery.set_room(100);
  std::vector<std::pair<uint64_t, int>> taken;
  EXPECT_TRUE(soon([&] {
    for (const auto& one : fleet[0].delivery.take_completions(2)) taken.push_back(one);
    return taken.size() == 20;
  }));
  std::ranges::sort(taken);  // there is no order among completions
  for (uint64_t n = 0; n < taken.size(); ++n) EXPECT_EQ(taken[n], std::make_pair(n + 1, 0));
}

TEST_P(Silence, OfTheNeighbourIsFoundBesideACallbackThatIsNotTaken) {
  fleet[0].delivery.set_room(0);
  fleet.start();
  Command late = get(1);
  late.completion_kind = Completion::kCallback;
  late.completion = 1;
  fleet[0].push(2, late);
  ASSERT_EQ(run(get(1)), 0);  // after it
  fleet[0].load.waiting = 1;
  fleet.network.pause_link(0, 1);
  EXPECT_TRUE(soon([&] { return !fleet[0].delivery.lost_nodes().empty(); }));
  fleet[0].delivery.set_room(1);
}

constexpr uint32_t kNodes = 3, kLanes = 3, kBytes = 10000;  // of AnyFault, the last at each node

// The memory of a command until it has ended.
struct Local {
  Bytes sink;
  std::array<llcl::Piece, 3> pieces;
};

Command any_command(const auto& draw, const Place& to, size_t bytes, Bytes& source, Local& local) {
  switch (draw(9)) {
    case 0:
      local.sink.resize(bytes);
      return transfer(Op::kGet, to, local.sink.data(), bytes);
    case 1:
      return transfer(Op::kPut, to, source.data(), bytes);
    case 2:
      return with_payload(Op::kPut, to, "12345678", 8);
    case 3:
      return with_payload(Op::kActiveMessage, {to.node, draw(kLanes), 0}, "12345678", 8);
    case 4:
      return command_to(to, Op::kFence);
    case 5:
      return put_notify(to, source.data(), bytes, {0, 0, to.region, kBytes - 8});
    case 6:
    case 7: {
      local.sink.resize(3 * bytes + 100);
      const auto sink = reinterpret_cast<uint64_t>(local.sink.data());
      local.pieces = {{{sink, 0, bytes, 1, 0, 0},
                       {sink + bytes, 9000, 8, bytes / 8, 16, -8},
                       {sink, 9000, 100, 50, 0, 0}}};
      local.pieces[1].count = std::min<uint64_t>(local.pieces[1].count / 2, 1000);
      return of_pieces(draw(2) ? Op::kPutPieces : Op::kGetPieces, to, local.pieces);
    }
    default:
      return atomic(llcl::Atomic::kAdd, llcl::Type::kInt32, to, nullptr, 1);
  }
}

// A run in which anything may go wrong; every command must end exactly once.
class AnyFault : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Hundred, AnyFault, ::testing::Range(0, 100));

TEST_P(AnyFault, EndsEveryCommandExactlyOnce) {
  constexpr uint32_t kEach = 150;
  std::mt19937 random(GetParam());
  const auto draw = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  std::vector<Bytes> memory(kNodes, Bytes(kBytes));
  std::vector<Local> locals(kNodes * kLanes * kEach);
  Bytes source(kBytes);
  Fleet fleet(kNodes,
              Options{.notification = static_cast<Notification>(draw(3)),
                      .batch_bytes = 8192,
                      .slots = 64 + draw(200),
                      .credit_commands = 1 + draw(60),
                      .credit_bytes = 1 + draw(20000),
                      .pending_max = draw(30),
                      .probe_after_ms = 20,
                      .fail_after_ms = 100},
              fabric::FaultPlan{.seed = static_cast<uint64_t>(GetParam()) + 1,
                                .refuse_percent = draw(30),
                                .lose_percent = draw(4) == 0 ? 1u : 0u,
                                .delay_polls_max = draw(8),
                                .room = 4 + draw(100)});
  uint32_t region = 0;
  for (uint32_t node = 0; node < kNodes; ++node) {
    region = fleet[node].regions.add(0, memory[node].data(), kBytes);
    fleet[node].delivery.set_room(1 + draw(50));
  }
  fleet.start();
  std::vector<std::vector<int>> completions(kNodes * kLanes, std::vector<int>(kEach));
  const auto collect = [&] {
    size_t sum = 0;
    for (uint32_t n = 0; n < kNodes * kLanes; ++n) {
      TestDelivery& delivery = fleet[n / kLanes].delivery;
      delivery.take_messages(n % kLanes);
      for (const auto& [request, status] : delivery.take_completions(n % kLanes))
        ++completions[n][request - 1];
      sum += static_cast<size_t>(std::count_if(completions[n].begin(), completions[n].end(),
                                               [](int count) { return count != 0; }));
    }
    return sum;
  };
  uint32_t pushed = 0;
  const uint32_t fault_at = draw(kNodes * kLanes * kEach), fault = draw(4);
  for (uint32_t n = 0; n < kEach; ++n)
    for (uint32_t from = 0; from < kNodes * kLanes; ++from, ++pushed) {
      const Place to{draw(kNodes), 0, region, draw(100) * 8};
      const size_t bytes = draw(2) == 0 ? draw(100) : draw(kBytes - 800);
      Command command = any_command(draw, to, bytes, source, locals[pushed]);
      command.completion_kind = Completion::kCallback;
      command.completion = n + 1;
      command.requester = static_cast<uint16_t>(from % kLanes);
      TestNode& node = fleet[from / kLanes];
      while (!node.lanes[from % kLanes].push(command)) collect();
      node.bell.ring();
      if (pushed != fault_at) continue;
      if (fault == 1) fleet.network.cut_link(0, 1);
      if (fault == 2) fleet.network.pause_link(1, 2);
      if (fault == 3) fleet.network.cut_endpoint(2);
    }
  EXPECT_TRUE(soon([&] { return collect() == size_t{kNodes} * kLanes * kEach; }));
  for (auto& node : fleet.all) node->stop();
  collect();
  for (const auto& of_lane : completions)
    for (const int count : of_lane) ASSERT_EQ(count, 1);
}

}  // namespace
}  // namespace nagaya::delegatee
