// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include "delegatee/fleet.h"
#include "delegatee/variant.h"

namespace nagaya::delegatee {
namespace {

// Each lane of each node owns an area of every node's memory and knows what must be in it; all add
// to the same counters. Commands in flight at once do not overlap.
constexpr uint32_t kNodes = 4, kLanes = 2, kRounds = 60, kAtOnce = 12, kCounters = 16;
constexpr size_t kCell = 8192, kArea = kAtOnce * kCell;
constexpr size_t kMemory = kNodes * kLanes * kArea + kCounters * 8;

struct World {
  World(Endpoints endpoints, const Options& options)
      : memory(kNodes, Bytes(kMemory)), fleet(std::move(endpoints), options) {
    for (uint32_t node = 0; node < kNodes; ++node)
      region = fleet[node].regions.add(0, memory[node].data(), kMemory);
    fleet.start();
  }
  std::vector<Bytes> memory;
  Fleet fleet;
  uint32_t region;
};

class Requests {
 public:
  Requests(World& world, uint32_t node, uint32_t lane, unsigned seed)
      : world_(world), node_(node), lane_(lane), random_(seed) {}

  // False: something was wrong.
  bool run() {
    for (uint32_t round = 0; round < kRounds; ++round)
      if (!run_round()) return false;
    return true;
  }

  std::vector<Bytes> expected = std::vector<Bytes>(kNodes, Bytes(kArea));
  uint64_t added[kNodes][kCounters] = {};

 private:
  size_t area() const { return (node_ * kLanes + lane_) * kArea; }
  uint32_t draw(size_t end) { return static_cast<uint32_t>(random_() % end); }

  bool run_round() {
    uint64_t done = 0;
    Bytes buffers[kAtOnce];
    std::vector<std::pair<uint32_t, uint32_t>> gets;  // cell, node
    for (uint32_t cell = 0; cell < kAtOnce; ++cell) {
      const uint32_t to = (node_ + 1 + draw(kNodes - 1)) % kNodes;  // not this one
      const uint32_t kind = draw(4);
      const Place place{to, 0, world_.region, area() + cell * kCell};
      Bytes& buffer = buffers[cell];
      const size_t bytes = draw(2) == 0 ? draw(64) : draw(kCell + 1);
      if (kind == 0) {
        buffer.resize(kCell);
        gets.emplace_back(cell, to);
        push(transfer(Op::kGet, place, buffer.data(), kCell - draw(2) * 4096), done);
      } else if (kind == 1) {
        const uint32_t counter = draw(kCounters);
        const Place word{to, 0, world_.region, kMemory - 8 * (counter + 1)};
        added[to][counter] += bytes;
        push(atomic(llcl::Atomic::kAdd, llcl::Type::kUint64, word, nullptr, bytes), done);
      } else {
        buffer = pattern(bytes, draw(256));
        std::copy(buffer.begin(), buffer.end(), expected[to].begin() + cell * kCell);
        push(bytes != 0 && bytes <= 32 ? with_payload(Op::kPut, place, buffer.data(), bytes)
                                       : transfer(Op::kPut, place, buffer.data(), bytes),
             done);
      }
    }
    if (!soon([&] { return counts(done).first == kAtOnce || counts(done).second != 0; }, 60))
      return false;
    return counts(done).second == 0 && std::all_of(gets.begin(), gets.end(), [&](auto get) {
             const auto [cell, to] = get;
             return std::equal(buffers[cell].begin(), buffers[cell].begin() + 4096,
                               expected[to].begin() + cell * kCell);
           });
  }

  void push(const Command& command, uint64_t& done) {
    world_.fleet[node_].push(lane_, counted(command, done));
  }

  World& world_;
  const uint32_t node_, lane_;
  std::mt19937 random_;
};

class Mixed : public ::testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Over, Mixed, ::testing::ValuesIn(kVariants), name_of);

void run_mixed(World& world) {
  std::vector<std::unique_ptr<Requests>> all;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t node = 0; node < kNodes; ++node)
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      all.push_back(std::make_unique<Requests>(world, node, lane, node * kLanes + lane));
      threads.emplace_back([&, requests = all.back().get()] { wrong += !requests->run(); });
    }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(wrong, 0);
  for (uint32_t node = 0; node < kNodes; ++node) {
    Bytes expected;
    for (const auto& requests : all)
      expected.insert(expected.end(), requests->expected[node].begin(),
                      requests->expected[node].end());
    expected.resize(kMemory);
    for (uint32_t counter = 0; counter < kCounters; ++counter) {
      uint64_t sum = 0;
      for (const auto& requests : all) sum += requests->added[node][counter];
      std::memcpy(expected.data() + kMemory - 8 * (counter + 1), &sum, sizeof sum);
    }
    EXPECT_TRUE(world.memory[node] == expected) << "node " << node;
  }
}

TEST_P(Mixed, OperationsLeaveEveryMemoryAsExpected) {
  World world(GetParam().backend.open(kNodes),
              {.notification = GetParam().notification, .credit_commands = 16});
  run_mixed(world);
}

TEST(MixedOverAnUnkindNetwork, OperationsLeaveEveryMemoryAsExpected) {
  fabric::LoopbackNetwork network(
      kNodes, {.seed = 5, .refuse_percent = 5, .delay_polls_max = 4, .room = 32});
  World world(fabric::open_all(network, kNodes), {.credit_commands = 16});
  run_mixed(world);
}

}  // namespace
}  // namespace nagaya::delegatee
