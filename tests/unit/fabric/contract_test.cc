// SPDX-License-Identifier: BSD-3-Clause
// The contract of fabric.h among endpoints of one process, for every implementation.
#include <poll.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "fabric/backend.h"

namespace nagaya::fabric {
namespace {

// Asked before the first endpoint chooses one.
const bool is_provider_chosen = std::getenv("FI_PROVIDER") != nullptr;

// Says how there could be an RDMA device, if verbs are to be tested and there is none.
std::string rdma_hint() {
  const bool is_verbs = std::string_view(std::getenv("FI_PROVIDER")).starts_with("verbs");
  return !is_verbs || std::filesystem::exists("/sys/class/infiniband")
             ? ""
             : "; an RDMA device: `rdma link add rxe0 type rxe netdev eth0`, if the kernel has "
               "rdma_rxe";
}

class Contract : public testing::TestWithParam<Backend> {
 protected:
  // The provider that is chosen for the tests may not be there.
  void SetUp() override {
    try {
      GetParam().open(1);
    } catch (const base::Error& error) {
      if (!is_provider_chosen) throw;
      GTEST_SKIP() << "does not run here: " << error.what() << rdma_hint();
    }
  }
  World open(unsigned nodes) { return World(GetParam().open(nodes)); }
};

std::string numbered(unsigned number, size_t bytes) {
  std::string text = std::to_string(number) + " ";
  text.resize(std::max(bytes, text.size()), static_cast<char>('a' + number % 26));
  return text;
}

std::vector<char> noise(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<char> data(bytes);
  for (char& c : data) c = static_cast<char>(random());
  return data;
}

TEST_P(Contract, AMessageArrivesAndDoesNotSayWhoHasSentIt) {
  World world = open(2);
  world.send(1, 0, "hello", 77);
  ASSERT_TRUE(world.until([&] { return !world.received(0).empty() && world.completed(1) == 1; }));
  const Reported got = world.received(0)[0];
  EXPECT_EQ(got.event.error, 0);
  EXPECT_EQ(got.event.node, kUnknownNode);
  EXPECT_EQ(got.event.cookie, 0u);
  EXPECT_EQ(got.data, "hello");
  const Event sent = world.reports(1)[0].event;
  EXPECT_EQ(sent.kind, Event::Kind::kSent);
  EXPECT_EQ(sent.error, 0);
  EXPECT_EQ(sent.node, 0u);
  EXPECT_EQ(sent.cookie, 77u);
}

TEST_P(Contract, MessagesOfAllSizesArriveWholeAndInTheirOrder) {
  World world = open(2);
  const size_t largest = world.at(0).message_max_bytes();
  const size_t sizes[] = {0, 1, 63, 64, 65, 192, 4000, 4096, 4097, 8192, largest - 1, largest};
  std::vector<std::string> sent;
  for (unsigned i = 0; i < 240; ++i) {
    const size_t bytes = sizes[(i * 7) % std::size(sizes)];
    sent.push_back(bytes == 0 ? "" : numbered(i, bytes));
  }
  for (size_t i = 0; i < sent.size(); ++i) world.send(0, 1, sent[i], i);
  ASSERT_TRUE(world.until([&] {
    return world.received(1).size() == sent.size() && world.completed(0) == sent.size();
  }));
  const std::vector<Reported> got = world.received(1);
  for (size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(got[i].data, sent[i]) << "message " << i;
}

TEST_P(Contract, EveryCookieComesBackExactlyOnce) {
  World world = open(2);
  std::vector<char> memory(1 << 16);
  const Region region = world.at(1).register_memory(memory.data(), memory.size());
  std::vector<char> local = noise(memory.size(), 1);
  std::vector<char> back(memory.size());
  for (uint64_t i = 0; i < 600; ++i) {
    const size_t bytes = 1 + (i * 997) % 5000;
    if (i % 3 == 0) world.send(0, 1, std::string(local.data(), bytes), i);
    if (i % 3 == 1) world.write(0, 1, local.data(), bytes, region, i * 100, i);
    if (i % 3 == 2) world.read(0, 1, back.data() + i * 100, bytes % 100, region, i * 100, i);
  }
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 600; }));
  world.poll_all();
  std::map<uint64_t, int> times;
  for (const Reported& report : world.reports(0)) {
    EXPECT_EQ(report.event.error, 0);
    EXPECT_EQ(report.event.kind, std::vector({Event::Kind::kSent, Event::Kind::kWritten,
                                              Event::Kind::kRead})[report.event.cookie % 3]);
    ++times[report.event.cookie];
  }
  EXPECT_EQ(times.size(), 600u);
  for (const auto& [cookie, count] : times) EXPECT_EQ(count, 1) << "cookie " << cookie;
}

TEST_P(Contract, ReadsAndWritesOfAllSizesMoveTheRightBytes) {
  World world = open(2);
  std::vector<char> memory(5 << 20, 'x');
  const Region region = world.at(1).register_memory(memory.data(), memory.size());
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{7}, size_t{64}, size_t{4096},
                             size_t{70000}, size_t{1} << 20, size_t{4} << 20}) {
    std::fill(memory.begin(), memory.end(), 'x');
    const uint64_t offset = 4096 + bytes % 13;
    const std::vector<char> local = noise(bytes, bytes);
    world.write(0, 1, local.data(), bytes, region, offset, bytes);
    EXPECT_EQ(world.await_one(0, world.completed(0)).error, 0);
    EXPECT_TRUE(std::equal(local.begin(), local.end(), memory.begin() + offset)) << bytes;
    EXPECT_EQ(memory[offset - 1], 'x');
    EXPECT_EQ(memory[offset + bytes], 'x');
    std::vector<char> back(bytes + 1, 'y');
    world.read(0, 1, back.data(), bytes, region, offset, bytes);
    EXPECT_EQ(world.await_one(0, world.completed(0)).error, 0);
    EXPECT_TRUE(std::equal(local.begin(), local.end(), back.begin())) << bytes;
    EXPECT_EQ(back[bytes], 'y');
  }
}

TEST_P(Contract, MessagesLeaveWhateverIsReadOfASlowNode) {
  World world = open(3);
  std::vector<char> memory(1 << 16), back(1 << 16);
  const Region region = world.at(1).register_memory(memory.data(), memory.size());
  // Both are connected first.
  world.read(0, 1, back.data(), 1, region, 0, 0);
  world.send(0, 2, "first", 1);
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 2 && !world.received(2).empty(); }));
  uint64_t operations = 2;  // from here on node 1 does not look
  while (world.at(0).try_read(1, back.data(), back.size(), region, 0, operations)) ++operations;
  EXPECT_GT(operations, 2u);
  const std::string text = "second";
  EXPECT_TRUE(world.at(0).try_send(2, text.data(), text.size(), operations++));
  ASSERT_TRUE(world.until(
      [&] { return world.received(2).size() == 2 && world.completed(0) == operations; }));
  EXPECT_EQ(world.received(2)[1].data, "second");
}

TEST_P(Contract, ANodeReachesItselfLikeAnyOther) {
  World world = open(2);
  char memory[16] = "...............";
  const Region region = world.at(0).register_memory(memory, sizeof memory);
  world.send(0, 0, "to myself", 1);
  world.write(0, 0, "abc", 3, region, 4, 2);
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 2 && !world.received(0).empty(); }));
  EXPECT_EQ(world.received(0)[0].data, "to myself");
  char back[4] = {};
  world.read(0, 0, back, 3, region, 4, 3);
  EXPECT_EQ(world.await_one(0, 2).error, 0);
  EXPECT_STREQ(back, "abc");
}

TEST_P(Contract, EightEndpointsAllTalkToAll) {
  World world = open(8);
  constexpr unsigned kEach = 20;
  std::vector<std::string> texts;
  for (unsigned i = 0; i < kEach; ++i) texts.push_back(numbered(i, i * 50));
  for (unsigned i = 0; i < kEach; ++i)
    for (Node from = 0; from < 8; ++from)
      for (Node to = 0; to < 8; ++to) world.send(from, to, std::to_string(from) + texts[i], i);
  ASSERT_TRUE(world.until([&] {
    for (Node node = 0; node < 8; ++node)
      if (world.reports(node).size() != 8 * kEach * 2) return false;
    return true;
  }));
  for (Node node = 0; node < 8; ++node) {
    std::map<Node, unsigned> next;
    for (const Reported& report : world.received(node)) {
      const Node from = static_cast<Node>(report.data[0] - '0');
      EXPECT_EQ(report.data.substr(1), texts[next[from]++]);
    }
    EXPECT_EQ(next.size(), 8u);
  }
}

TEST_P(Contract, ARefusalIsNoLossAndEndsWhenThereIsRoom) {
  World world = open(2);
  const std::string text(world.at(0).message_max_bytes(), 'm');
  uint64_t accepted = 0;
  bool was_refused = false;
  while (!was_refused && accepted < 100000) {  // the receiver does not poll
    if (world.at(0).try_send(1, text.data(), text.size(), accepted))
      ++accepted;
    else
      was_refused = true;
    if (accepted == 0) {  // not connected yet
      world.poll_all();
      was_refused = false;
    }
  }
  EXPECT_TRUE(was_refused);
  world.send(0, 1, "after", accepted);
  ASSERT_TRUE(world.until([&] {
    return world.received(1).size() == accepted + 1 && world.completed(0) == accepted + 1;
  }));
  EXPECT_EQ(world.received(1).back().data, "after");
}

TEST_P(Contract, MisuseIsAnErrorOfItsEventAndHarmsNothingElse) {
  World world = open(2);
  std::vector<char> memory(4096);
  const Region region = world.at(1).register_memory(memory.data(), memory.size());
  std::vector<char> local(world.at(0).message_max_bytes() + 1);
  const auto error = [&](auto&& start) {
    const size_t before = world.completed(0);
    EXPECT_TRUE(world.until(start));
    return world.await_one(0, before).error;
  };
  Fabric& fabric = world.at(0);
  EXPECT_EQ(error([&] { return fabric.try_send(1, local.data(), local.size(), 1); }), -EMSGSIZE);
  EXPECT_EQ(error([&] { return fabric.try_send(2, local.data(), 1, 1); }), -EINVAL);
  EXPECT_EQ(error([&] { return fabric.try_read(2, local.data(), 1, region, 0, 1); }), -EINVAL);
  EXPECT_EQ(error([&] { return fabric.try_read(1, local.data(), 1, region, 4096, 1); }), -EINVAL);
  EXPECT_EQ(error([&] { return fabric.try_write(1, local.data(), 4097, region, 0, 1); }), -EINVAL);
  EXPECT_EQ(error([&] { return fabric.try_write(1, local.data(), 2, region, ~0ull, 1); }), -EINVAL);
  EXPECT_EQ(error([&] { return fabric.try_write(1, local.data(), ~0ull, region, 1, 1); }), -EINVAL);
  EXPECT_EQ(error([&] { return fabric.try_write(1, local.data(), 4096, region, 0, 1); }), 0);
}

TEST_P(Contract, MemoryCanBeRegisteredAgainAndAgain) {
  World world = open(2);
  std::vector<char> memory(4096);
  for (uint64_t i = 0; i < 50; ++i) {
    const Region region = world.at(1).register_memory(memory.data(), memory.size());
    const char value = static_cast<char>('a' + i % 26);
    world.write(0, 1, &value, 1, region, i, i);
    EXPECT_EQ(world.await_one(0, i).error, 0);
    EXPECT_EQ(memory[i], value);
    world.at(1).deregister(region);
  }
}

TEST_P(Contract, WhatIsPendingToANodeThatIsGivenUpFailsAndLeavesTheMemory) {
  World world = open(3);
  std::vector<char> remote(1 << 20, 'r'), local(remote.size(), 'l');
  const Region region = world.at(1).register_memory(remote.data(), remote.size());
  world.send(1, 0, "connected by the other", 0);
  ASSERT_TRUE(world.until([&] { return world.received(0).size() == 1; }));
  world.send(0, 1, "connected", 0);
  world.send(0, 2, "connected", 1);
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 2; }));
  bool is_accepted = false;  // nobody but node 0 polls from here on
  for (int n = 0; n < 100000 && !is_accepted; ++n, world.poll(0))
    is_accepted = world.at(0).try_read(1, local.data(), local.size(), region, 0, 2);
  ASSERT_TRUE(is_accepted);
  world.at(0).give_up(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (world.completed(0) < 3 && std::chrono::steady_clock::now() < end) world.poll(0);
  ASSERT_EQ(world.completed(0), 3u);
  EXPECT_NE(world.reports(0).back().event.error, 0);
  std::fill(local.begin(), local.end(), 'u');
  for (int n = 0; n < 1000; ++n) world.poll_all();
  EXPECT_EQ(local, std::vector<char>(local.size(), 'u'));
  world.send(0, 1, "later", 3);
  EXPECT_EQ(world.await_one(0, 3).error, -ECONNRESET);
  world.send(0, 2, "to another", 4);
  EXPECT_EQ(world.await_one(0, 4).error, 0);
}

// Polls until nothing happens any more, then sleeps for good or until it is woken.
void sleep_once(Fabric& fabric, unsigned limit_ms, std::vector<Reported>& reports) {
  std::vector<pollfd> descriptors;
  if (fabric.may_sleep(descriptors)) {
    EXPECT_FALSE(descriptors.empty());
    ::poll(descriptors.data(), descriptors.size(), static_cast<int>(limit_ms));
  }
  Event events[8];
  const size_t count = fabric.poll(events);
  for (size_t i = 0; i < count; ++i) reports.push_back({events[i], {}});
}

TEST_P(Contract, ASleeperIsWokenByAMessage) {
  World::Endpoints endpoints = GetParam().open(2);
  using Clock = std::chrono::steady_clock;
  Clock::duration took{};
  std::vector<Reported> received;
  const auto start = Clock::now();
  std::thread sleeper([&] {
    while (received.empty() && Clock::now() - start < std::chrono::seconds(20))
      sleep_once(*endpoints[0], 20000, received);
    took = Clock::now() - start;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::vector<Reported> sent;
  while (!endpoints[1]->try_send(0, "wake", 4, 1)) sleep_once(*endpoints[1], 20, sent);
  const auto end = Clock::now() + std::chrono::seconds(10);
  while (sent.empty() && Clock::now() < end) sleep_once(*endpoints[1], 20, sent);
  sleeper.join();
  EXPECT_EQ(received.size(), 1u);
  EXPECT_EQ(sent.size(), 1u);
  EXPECT_GE(took, std::chrono::milliseconds(90));
  EXPECT_LT(took, std::chrono::seconds(10));
}

// Neither end ever polls without having been woken: refusals and completions must wake too.
TEST_P(Contract, TwoSleepersExchangeManyMessages) {
  World::Endpoints endpoints = GetParam().open(2);
  constexpr size_t kMessages = 2000;
  const std::string text(3000, 's');
  std::vector<Reported> reports[2];
  const auto drive = [&](Node self) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    size_t sent = 0;
    while (reports[self].size() < 2 * kMessages && std::chrono::steady_clock::now() < end) {
      while (sent < kMessages &&
             endpoints[self]->try_send(1 - self, text.data(), text.size(), sent))
        ++sent;
      sleep_once(*endpoints[self], 30000, reports[self]);
    }
  };
  std::thread other([&] { drive(1); });
  drive(0);
  other.join();
  for (const auto& list : reports) EXPECT_EQ(list.size(), 2 * kMessages);
}

// Nothing that has been there wakes a sleeper for ever.
TEST_P(Contract, WhoHasNothingToDoCanSleep) {
  World world = open(2);
  world.send(0, 1, "there", 1);
  world.send(1, 0, "back", 2);
  ASSERT_TRUE(world.until([&] {
    return !world.received(0).empty() && !world.received(1).empty() && world.completed(0) == 1 &&
           world.completed(1) == 1;
  }));
  for (const Node node : {0, 1})
    EXPECT_TRUE(world.until([&] {
      std::vector<pollfd> descriptors;
      return world.at(node).may_sleep(descriptors) &&
             ::poll(descriptors.data(), descriptors.size(), 20) == 0;
    })) << "node "
        << node;
}

INSTANTIATE_TEST_SUITE_P(Of, Contract, testing::ValuesIn(kBackends),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nagaya::fabric
