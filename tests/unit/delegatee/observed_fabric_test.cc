// SPDX-License-Identifier: BSD-3-Clause
// observed_fabric_test.cc - a delegatee's calls of its fabric, and its acts when the fabric is slow
// or breaks.
#include <atomic>
#include <new>

#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

// Forwards all calls, but for what a test changes.
class ObservedFabric : public fabric::Fabric {
 public:
  explicit ObservedFabric(std::unique_ptr<fabric::Fabric> inner) : inner_(std::move(inner)) {}

  std::string address() const override { return inner_->address(); }
  void connect(std::span<const std::string> all, Node self) override { inner_->connect(all, self); }
  size_t message_max_bytes() const override { return inner_->message_max_bytes(); }
  bool try_send(Node node, const void* data, size_t bytes, uint64_t cookie) override {
    return !sends_nothing && inner_->try_send(node, data, bytes, cookie);
  }
  bool try_read(Node node, void* to, size_t bytes, const fabric::Region& from, uint64_t offset,
                uint64_t cookie) override {
    return transfer(bytes, [&] { return inner_->try_read(node, to, bytes, from, offset, cookie); });
  }
  bool try_write(Node node, const void* from, size_t bytes, const fabric::Region& to,
                 uint64_t offset, uint64_t cookie) override {
    return transfer(bytes,
                    [&] { return inner_->try_write(node, from, bytes, to, offset, cookie); });
  }
  void give_up(Node node) override { inner_->give_up(node); }
  fabric::Region register_memory(void* base, size_t bytes) override {
    return inner_->register_memory(base, bytes);
  }
  void deregister(const fabric::Region& region) override { inner_->deregister(region); }
  bool keys_are_secret() const override { return inner_->keys_are_secret(); }
  size_t poll(std::span<fabric::Event> events) override {
    const size_t count = inner_->poll(events);
    for (fabric::Event& event : events.first(count)) {
      if (event.kind != fabric::Event::Kind::kRead && event.kind != fabric::Event::Kind::kWritten)
        continue;
      if (++ended >= first_failing && ended <= last_failing) event.error = -EIO;
    }
    return count;
  }
  bool may_sleep(std::vector<pollfd>& descriptors) override {
    if (has_no_memory) throw std::bad_alloc();
    return inner_->may_sleep(descriptors);
  }

  std::atomic<bool> sends_nothing{false}, has_no_memory{false};
  // Reads and writes, together:
  std::atomic<size_t> largest{0};
  std::atomic<uint32_t> begun{0}, ended{0}, most{UINT32_MAX};        // others are refused
  std::atomic<uint32_t> first_failing{UINT32_MAX}, last_failing{0};  // by the order of their ends

 private:
  template <class Begin>
  bool transfer(size_t bytes, Begin begin) {
    largest = std::max(largest.load(), bytes);
    if (begun >= most || !begin()) return false;
    ++begun;
    return true;
  }

  std::unique_ptr<fabric::Fabric> inner_;
};

constexpr size_t kBytes = (80 << 20) + 5;  // more than the fabric may move at a time

class ObservedFabrics : public ::testing::Test {
 protected:
  ObservedFabrics() : network(2), fleet(Endpoints{}, {}) {
    endpoints = fabric::open_all(network, 2);
  }
  ObservedFabric& open(Node self, Options options) {
    options.notification = Notification::kKernel;
    auto observed = std::make_unique<ObservedFabric>(std::move(endpoints[self]));
    ObservedFabric& fabric = *observed;
    fleet.all.push_back(std::make_unique<TestNode>(std::move(observed), self, 2, options));
    return fabric;
  }
  int run(const Command& command) {
    Flag flag;
    fleet[0].push(0, flagged(command, flag));
    return flag.wait();
  }

  fabric::LoopbackNetwork network;
  Endpoints endpoints;
  Bytes memory[2];
  Fleet fleet;  // after what it works on
};

// A transfer of three portions.
class ObservedPortions : public ObservedFabrics {
 protected:
  ObservedPortions() : fabric(open(0, {.probe_after_ms = 50, .fail_after_ms = 60'000})) {
    open(1, {});
    for (Bytes& one : memory) one = pattern(kBytes, 3);
    region = fleet[1].regions.add(1, memory[1].data(), kBytes);
    fleet.start();
  }
  Command large(Op op) { return transfer(op, {1, 1, region}, memory[0].data(), kBytes); }
  // Until its first portion has been moved; the second is refused.
  void push_until_second(uint32_t task, Op op, Flag& flag) {
    fabric.begun = fabric.ended = 0;
    fabric.most = 1;
    fleet[0].push(task, flagged(large(op), flag));
    ASSERT_TRUE(soon([&] { return fabric.ended == 1; }));
  }

  ObservedFabric& fabric;
  uint32_t region;
};

TEST_F(ObservedPortions, OfWhichOneFailsAreMovedOnFromThere) {
  for (const Op op : {Op::kGet, Op::kPut}) {
    (op == Op::kGet ? memory[0] : memory[1]).assign(kBytes, std::byte{0});
    fabric.begun = fabric.ended = 0;
    fabric.first_failing = fabric.last_failing = 2;
    ASSERT_EQ(run(large(op)), 0);
    EXPECT_TRUE(memory[0] == memory[1]);
    EXPECT_EQ(fabric.begun, 4u);
  }
}

TEST_F(ObservedPortions, OfWhichAllFailEndWithTheError) {
  fabric.first_failing = 2;
  fabric.last_failing = UINT32_MAX;
  EXPECT_EQ(run(large(Op::kGet)), -EIO);
  EXPECT_EQ(fabric.begun, 3u);
  fabric.last_failing = 0;
  EXPECT_EQ(run(large(Op::kGet)), 0);
}

TEST_F(ObservedPortions, OfATaskThatEndsBetweenTwoAreDropped) {
  for (const Op op : {Op::kGet, Op::kPut}) {
    const uint32_t task = op == Op::kGet ? 2 : 3;
    Flag flag;
    push_until_second(task, op, flag);
    fleet[0].delegatee.abandon(task);
    EXPECT_TRUE(soon([&] { return fleet[0].delivery.has_released(task); }));
    EXPECT_EQ(fabric.begun, 1u);
    EXPECT_EQ(flag.now(), 0);
    fabric.most = UINT32_MAX;
    EXPECT_EQ(run(large(op)), 0);
  }
}

TEST_F(ObservedPortions, BetweenWhichTheNodeFailsEndWithAnError) {
  Flag flag;
  push_until_second(0, Op::kGet, flag);
  network.cut_link(0, 1);
  EXPECT_EQ(flag.wait(), -ECONNRESET);
}

TEST_F(ObservedFabrics, MoveALargeTransferInPortions) {
  ObservedFabric& fabric = open(0, {});
  open(1, {});
  memory[1] = pattern(kBytes, 3);
  memory[0] = Bytes(kBytes);
  uint64_t told = 0;
  const uint32_t region = fleet[1].regions.add(1, memory[1].data(), kBytes);
  const uint32_t counter =
      fleet[1].regions.add(1, reinterpret_cast<std::byte*>(&told), sizeof told);
  fleet.start();
  ASSERT_EQ(run(transfer(Op::kGet, {1, 1, region}, memory[0].data(), kBytes)), 0);
  EXPECT_TRUE(memory[0] == memory[1]);
  memory[0] = pattern(kBytes, 5);
  ASSERT_EQ(run(transfer(Op::kPut, {1, 1, region}, memory[0].data(), kBytes)), 0);
  EXPECT_TRUE(memory[0] == memory[1]);
  memory[0] = pattern(kBytes, 7);
  ASSERT_EQ(run(put_notify({1, 1, region}, memory[0].data(), kBytes, {1, 1, counter})), 0);
  EXPECT_TRUE(memory[0] == memory[1]);
  EXPECT_EQ(told, 1u);
  EXPECT_LE(fabric.largest, size_t{32} << 20);
  EXPECT_GT(fabric.largest, size_t{1} << 20);
}

TEST_F(ObservedFabrics, ThatBreakBetweenTwoRoundsEndAllCommandsWithAnError) {
  // Nothing wakes it but a bell.
  ObservedFabric& fabric = open(0, {.probe_after_ms = 60'000, .fail_after_ms = 120'000});
  open(1, {});
  memory[1] = Bytes(8);
  const uint32_t region = fleet[1].regions.add(1, memory[1].data(), 8);
  fleet.start();
  Bytes local(8);
  const Command get = transfer(Op::kGet, {1, 1, region}, local.data(), 8);
  ASSERT_EQ(run(get), 0);
  fabric.has_no_memory = true;
  fleet[0].bell.ring();
  EXPECT_TRUE(soon([&] { return run(get) == -EIO; }));
  EXPECT_EQ(run(get), -EIO);
}

// Node 1 cannot send for a while (what node 0 reads of it goes first), and hears that node 0 lives.
TEST_F(ObservedFabrics, ThatSendNothingForAWhileDoNotMakeOthersCountAsFailed) {
  open(0, {.probe_after_ms = 50, .fail_after_ms = 60'000});
  ObservedFabric& slow = open(1, {.probe_after_ms = 50, .fail_after_ms = 1000});
  for (Bytes& one : memory) one = Bytes(8);
  const uint32_t regions[] = {fleet[0].regions.add(1, memory[0].data(), 8),
                              fleet[1].regions.add(1, memory[1].data(), 8)};
  fleet.start();
  Bytes local[2] = {Bytes(8), Bytes(8)};
  ASSERT_EQ(run(transfer(Op::kGet, {1, 1, regions[1]}, local[0].data(), 8)), 0);
  slow.sends_nothing = true;
  Flag flags[2];
  for (Node node = 0; node < 2; ++node)
    fleet[node].push(
        0, flagged(transfer(Op::kGet, {1 - node, 1, regions[1 - node]}, local[node].data(), 8),
                   flags[node]));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(fleet[1].delivery.lost_nodes().size(), 0u);
  slow.sends_nothing = false;
  for (Flag& flag : flags) EXPECT_EQ(flag.wait(), 0);
}

}  // namespace
}  // namespace nagaya::delegatee
