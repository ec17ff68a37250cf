// SPDX-License-Identifier: BSD-3-Clause
// The faults of the loopback network: with each of them, every accepted operation has one event.
#include "fabric/loopback.h"

#include <atomic>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "fabric/world.h"

namespace nagaya::fabric {
namespace {

TEST(Loopback, ACutLinkFailsWhatIsPendingAndWhatComesLater) {
  LoopbackNetwork network(3);
  World world(open_all(network, 3));
  const std::string large(1000, 'l');
  world.send(0, 1, large, 1);
  network.cut_link(0, 1);
  world.send(0, 1, large, 2);
  world.send(1, 0, large, 3);
  world.send(0, 2, large, 4);
  ASSERT_TRUE(world.until([&] {
    return world.completed(0) == 3 && world.completed(1) == 1 && world.received(2).size() == 1;
  }));
  for (const Reported& report : world.reports(0))
    EXPECT_EQ(report.event.error, report.event.cookie == 4 ? 0 : -ECONNRESET);
  EXPECT_EQ(world.reports(1)[0].event.error, -ECONNRESET);
}

TEST(Loopback, APausedLinkIsSilentAndDeliversWhenItGoesOn) {
  LoopbackNetwork network(2);
  World world(open_all(network, 2));
  const std::string large(1000, 'l');
  network.pause_link(0, 1);
  world.send(0, 1, large, 1);
  for (int i = 0; i < 100; ++i) world.poll_all();
  EXPECT_TRUE(world.reports(0).empty());
  EXPECT_TRUE(world.reports(1).empty());
  std::vector<pollfd> descriptors;
  EXPECT_TRUE(world.at(1).may_sleep(descriptors));
  network.resume_link(0, 1);
  EXPECT_TRUE(world.until([&] { return world.reports(1).size() + world.reports(0).size() == 2; }));
}

TEST(Loopback, WhoWasRefusedForRoomThatThereIsNowDoesNotSleep) {
  LoopbackNetwork network(2, {.room = 4});
  World world(open_all(network, 2));
  std::vector<Event> events(8);
  uint64_t word = 0;
  for (uint64_t n = 0; n < 4; ++n) ASSERT_TRUE(world.at(0).try_send(1, &word, sizeof word, n));
  ASSERT_EQ(world.at(0).poll(events), 4U);  // small ones are sent at once, and fill the link
  ASSERT_FALSE(world.at(0).try_send(1, &word, sizeof word, 4));
  std::vector<pollfd> descriptors;
  ASSERT_TRUE(world.at(0).may_sleep(descriptors));
  ASSERT_EQ(world.at(0).poll(events), 0U);
  ASSERT_EQ(world.at(1).poll(events), 4U);
  EXPECT_FALSE(world.at(0).may_sleep(descriptors) && ::poll(descriptors.data(), 1, 0) == 0);
}

TEST(Loopback, AnEndpointsEndIsItsPeersError) {
  LoopbackNetwork network(2);
  World world(open_all(network, 2));
  const std::string large(1000, 'l');
  world.send(0, 1, large, 1);
  world.kill(1);
  world.send(0, 1, large, 2);
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 2; }));
  for (const Reported& report : world.reports(0)) EXPECT_EQ(report.event.error, -ECONNRESET);
}

TEST(Loopback, AStaleRegionIsAnErrorOfTheOperationThatUsesIt) {
  LoopbackNetwork network(2);
  World world(open_all(network, 2));
  char memory[8] = {};
  const Region region = world.at(1).register_memory(memory, sizeof memory);
  world.at(1).deregister(region);
  world.write(0, 1, "x", 1, region, 0, 1);
  EXPECT_EQ(world.await_one(0, 0).error, -EACCES);
  EXPECT_EQ(memory[0], 0);
}

TEST(Loopback, ReadsAndWritesOvertakeEachOtherWhenTheyAreDelayed) {
  LoopbackNetwork network(2, {.delay_polls_max = 20});
  World world(open_all(network, 2));
  char memory[100] = {};
  const Region region = world.at(1).register_memory(memory, sizeof memory);
  for (uint64_t i = 0; i < 100; ++i) world.write(0, 1, "x", 1, region, i, i);
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 100; }));
  bool is_sorted = true;
  for (uint64_t i = 0; i < 100; ++i) is_sorted &= world.reports(0)[i].event.cookie == i;
  EXPECT_FALSE(is_sorted);
}

TEST(Loopback, AReceiverTakesInNoMoreThanItReports) {
  LoopbackNetwork network(2, {.room = 16});
  const std::vector<std::unique_ptr<Fabric>> endpoints = open_all(network, 2);
  const std::string large(1000, 'l');
  size_t accepted = 0;
  for (int step = 0; step < 1000; ++step) {
    accepted += endpoints[0]->try_send(1, large.data(), large.size(), step);
    Event event;
    endpoints[0]->poll({&event, 1});
    if (step % 100 == 0) endpoints[1]->poll({&event, 1});
  }
  EXPECT_GE(accepted, 16u);
  EXPECT_LE(accepted, 16u + 10u);
}

// One node's random traffic with every other, for a round of faults.
class Chatter {
 public:
  Chatter(Fabric& fabric, Node self, unsigned nodes, unsigned seed)
      : fabric_(fabric), self_(self), nodes_(nodes), random_(seed), local_(4096, 'c') {}

  void start_one(const std::vector<Region>& regions) {
    const Node to = random_() % nodes_;
    const size_t bytes = random_() % 200;
    const uint64_t cookie = next_cookie_;
    bool is_accepted = false;
    switch (random_() % 3) {
      case 0:
        messages_[cookie] =
            std::to_string(self_) + " " + std::to_string(cookie) + std::string(bytes, '.');
        is_accepted =
            fabric_.try_send(to, messages_[cookie].data(), messages_[cookie].size(), cookie);
        break;
      case 1:
        is_accepted = fabric_.try_write(to, local_.data(), bytes, regions[to], 0, cookie);
        break;
      default:
        is_accepted = fabric_.try_read(to, local_.data(), bytes, regions[to], 0, cookie);
    }
    if (is_accepted) ++next_cookie_;
  }

  void poll() {
    Event events[5];
    const size_t count = fabric_.poll(events);
    for (size_t i = 0; i < count; ++i) note(events[i]);
  }

  bool is_complete() const { return times_.size() == next_cookie_; }

  void check() const {
    EXPECT_TRUE(is_complete()) << "node " << self_;
    for (const auto& [cookie, count] : times_)
      EXPECT_EQ(count, 1) << "cookie " << cookie << " of node " << self_;
  }

 private:
  void note(const Event& event) {
    if (event.kind != Event::Kind::kReceived) {
      ++times_[event.cookie];
      return;
    }
    // Cookies of a sender only grow, whichever of its messages were lost.
    std::istringstream text(std::string(reinterpret_cast<const char*>(event.data), event.bytes));
    Node from;
    uint64_t number;
    text >> from >> number;
    const bool is_first = !last_received_.contains(from);
    EXPECT_TRUE(is_first || number > last_received_[from]);
    last_received_[from] = number;
  }

  Fabric& fabric_;
  const Node self_;
  const unsigned nodes_;
  std::mt19937 random_;
  std::string local_;
  uint64_t next_cookie_ = 0;
  std::map<uint64_t, std::string> messages_;  // by cookie: they stay as they are
  std::map<uint64_t, int> times_;
  std::map<Node, uint64_t> last_received_;
};

class Faults : public testing::TestWithParam<unsigned> {};

TEST_P(Faults, EveryCookieComesBackExactlyOnceWhateverHappens) {
  constexpr unsigned kNodes = 4;
  const unsigned seed = GetParam();
  std::mt19937 random(seed);
  LoopbackNetwork network(kNodes, {.seed = seed,
                                   .refuse_percent = 10,
                                   .lose_percent = seed % 3,
                                   .delay_polls_max = seed % 7,
                                   .room = 16});
  const std::vector<std::unique_ptr<Fabric>> endpoints = open_all(network, kNodes);
  std::vector<std::vector<char>> memory(kNodes, std::vector<char>(4096));
  std::vector<Region> regions;
  std::vector<Chatter> chatters;
  for (Node node = 0; node < kNodes; ++node) {
    regions.push_back(endpoints[node]->register_memory(memory[node].data(), 4096));
    chatters.emplace_back(*endpoints[node], node, kNodes, random());
  }
  for (int step = 0; step < 2000; ++step) {
    Chatter& chatter = chatters[random() % kNodes];
    random() % 2 == 0 ? chatter.start_one(regions) : chatter.poll();
    const Node a = random() % kNodes, b = random() % kNodes;
    switch (random() % 200) {
      case 0:
        network.pause_link(a, b);
        break;
      case 1:
        network.resume_link(a, b);
        break;
      case 2:
        if (random() % 5 == 0) network.cut_link(a, b);
        break;
      case 3:
        if (random() % 20 == 0) network.cut_endpoint(a);
        break;
      default:
        break;
    }
  }
  for (Node a = 0; a < kNodes; ++a)
    for (Node b = 0; b < kNodes; ++b) network.resume_link(a, b);
  for (int round = 0; round < 1000; ++round)
    for (Chatter& chatter : chatters) chatter.poll();
  for (const Chatter& chatter : chatters) chatter.check();
}

INSTANTIATE_TEST_SUITE_P(Seed, Faults, testing::Range(0u, 100u));

TEST(Loopback, EndpointsMayHaveAThreadEach) {
  constexpr unsigned kNodes = 3;
  LoopbackNetwork network(kNodes, {.refuse_percent = 10, .delay_polls_max = 3, .room = 16});
  const std::vector<std::unique_ptr<Fabric>> endpoints = open_all(network, kNodes);
  std::vector<std::vector<char>> memory(kNodes, std::vector<char>(4096));
  std::vector<Region> regions;
  std::vector<Chatter> chatters;
  for (Node node = 0; node < kNodes; ++node) {
    regions.push_back(endpoints[node]->register_memory(memory[node].data(), 4096));
    chatters.emplace_back(*endpoints[node], node, kNodes, node);
  }
  std::atomic<unsigned> done{0};
  std::vector<std::thread> threads;
  for (Chatter& chatter : chatters)
    threads.emplace_back([&] {
      for (int step = 0; step < 2000; ++step) {
        chatter.start_one(regions);
        chatter.poll();
      }
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!chatter.is_complete() && std::chrono::steady_clock::now() < end) chatter.poll();
      done.fetch_add(1);
      // The others' operations need this one's polls.
      while (done.load() < kNodes && std::chrono::steady_clock::now() < end) chatter.poll();
    });
  for (std::thread& thread : threads) thread.join();
  for (const Chatter& chatter : chatters) chatter.check();
}

}  // namespace
}  // namespace nagaya::fabric
