// SPDX-License-Identifier: BSD-3-Clause
// The contract between two processes, also when one of them stops or dies.
#include "fabric/libfabric.h"

#include <rdma/fabric.h>
#include <sys/mman.h>

#include <map>
#include <thread>

#include "fabric/peer_process.h"

namespace nagaya::fabric {
namespace {

constexpr size_t kLarge = 4096;

void expect_each_cookie_once(const World& world, size_t cookies) {
  std::map<uint64_t, int> times;
  for (const Reported& report : world.reports(0))
    if (report.event.kind != Event::Kind::kReceived) ++times[report.event.cookie];
  EXPECT_EQ(times.size(), cookies);
  for (const auto& [cookie, count] : times) EXPECT_EQ(count, 1) << "cookie " << cookie;
}

// Sends, writes and reads in turn until the fabric refuses; how many it accepted.
size_t start_what_is_accepted(World& world, const Region& region, std::vector<char>& local) {
  size_t accepted = 0;
  for (bool is_accepted = true; is_accepted && accepted < 10000; accepted += is_accepted)
    switch (accepted % 3) {
      case 0:
        is_accepted = world.at(0).try_send(1, local.data(), kLarge, accepted);
        break;
      case 1:
        is_accepted = world.at(0).try_write(1, local.data(), local.size(), region, 0, accepted);
        break;
      default:
        is_accepted = world.at(0).try_read(1, local.data(), local.size(), region, 0, accepted);
    }
  return accepted;
}

void sleep_until_woken(World& world) {
  std::vector<pollfd> descriptors;
  if (world.at(0).may_sleep(descriptors)) ::poll(descriptors.data(), descriptors.size(), 10000);
  world.poll(0);
}

void greet(World& world) {
  world.send(0, 1, "hello", 0);
  ASSERT_TRUE(
      world.until([&] { return world.received(0).size() == 1 && world.completed(0) == 1; }));
}

TEST(Libfabric, MessagesReadsAndWritesPassBetweenProcesses) {
  PeerProcess peer;
  World world = peer.connected();
  for (uint64_t i = 0; i < 500; ++i) world.send(0, 1, std::to_string(i), i);
  ASSERT_TRUE(world.until([&] { return world.reports(0).size() == 1000; }));
  for (uint64_t i = 0; i < 500; ++i) EXPECT_EQ(world.received(0)[i].data, std::to_string(i));
  const std::string text(100000, 't');
  std::string back(text.size() + 1, '.');
  world.write(0, 1, text.data(), text.size(), peer.region(), 1, 500);
  EXPECT_EQ(world.await_one(0, 500).error, 0);
  world.read(0, 1, back.data(), back.size(), peer.region(), 0, 501);
  EXPECT_EQ(world.await_one(0, 501).error, 0);
  EXPECT_EQ(back, "p" + text);
}

TEST(Libfabric, WhatIsPendingToAKilledPeerFailsWithinASecond) {
  PeerProcess peer;
  World world = peer.connected();
  greet(world);
  peer.stop();
  std::vector<char> local(PeerProcess::kMemoryBytes);
  const size_t accepted = start_what_is_accepted(world, peer.region(), local);
  EXPECT_GT(accepted, 2u);
  for (int i = 0; i < 100; ++i) world.poll_all();
  peer.kill();
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 1 + accepted; }, 1000));
  EXPECT_NE(world.reports(0).back().event.error, 0);
  // Everything later fails too, and at once.
  for (uint64_t i = 0; i < 1000; ++i) world.send(0, 1, "later", accepted + i);
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 1 + accepted + 1000; }, 1000));
  EXPECT_EQ(world.reports(0).back().event.error, -ECONNRESET);
}

TEST(Libfabric, TheFirstThingsSentToAPeerThatHasDiedFailWithinASecond) {
  PeerProcess peer;
  World world = peer.connected();
  greet(world);
  peer.kill();
  // The kernel may take some before it learns of the death: those are sent, and lost.
  uint64_t cookie = 1;
  const auto is_failing = [&] {
    if (world.at(0).try_send(1, "x", 1, cookie)) ++cookie;
    return world.reports(0).back().event.error != 0;
  };
  EXPECT_TRUE(world.until(is_failing, 1000));
  EXPECT_TRUE(world.until([&] { return world.completed(0) == cookie; }, 1000));
  expect_each_cookie_once(world, cookie);
}

TEST(Libfabric, ASleeperNoticesThePeersDeathAlsoWhenNothingWasPending) {
  PeerProcess peer;
  World world = peer.connected();
  greet(world);
  peer.kill();
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::steady_clock::now() - start; };
  while (passed() < std::chrono::milliseconds(200)) world.poll_all();
  for (bool is_accepted = false; world.completed(0) < 2 && passed() < std::chrono::seconds(9);) {
    is_accepted = is_accepted || world.at(0).try_send(1, "x", 1, 1);
    sleep_until_woken(world);
  }
  EXPECT_LT(passed(), std::chrono::milliseconds(1500));
  EXPECT_NE(world.reports(0).back().event.error, 0);
}

TEST(Libfabric, APeerThatIsSilentForAWhileIsNoError) {
  PeerProcess peer;
  World world = peer.connected();
  greet(world);
  peer.stop();
  std::vector<char> local(PeerProcess::kMemoryBytes);
  const size_t accepted = start_what_is_accepted(world, peer.region(), local);
  const auto start = std::chrono::steady_clock::now();
  uint64_t later = accepted;
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500)) {
    if (later < accepted + 1000 && world.at(0).try_send(1, "more", 4, later)) ++later;
    world.poll_all();
  }
  peer.go_on();
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 1 + later; }));
  for (const Reported& report : world.reports(0)) EXPECT_EQ(report.event.error, 0);
}

TEST(Libfabric, ASleeperIsWokenByThePeersDeath) {
  PeerProcess peer;
  World world = peer.connected();
  greet(world);
  peer.stop();
  std::vector<char> local(PeerProcess::kMemoryBytes);
  ASSERT_TRUE(world.until(
      [&] { return world.at(0).try_read(1, local.data(), local.size(), peer.region(), 0, 1); }));
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    peer.kill();
  });
  const auto start = std::chrono::steady_clock::now();
  while (world.completed(0) < 2 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(9)) {
    sleep_until_woken(world);
  }
  killer.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_NE(world.reports(0).back().event.error, 0);
}

// Two pieces of memory for what is pending to a silent peer.
struct Pieces {
  static constexpr size_t kBytes = PeerProcess::kMemoryBytes;

  Pieces()
      : base(static_cast<char*>(::mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  char* base;
};

size_t start_transfers(World& world, const Region& region, const Pieces& pieces) {
  size_t accepted = 0;
  for (bool is_accepted = true; is_accepted && accepted < 10000; accepted += is_accepted) {
    char* const local = pieces.base + accepted / 2 % 2 * Pieces::kBytes;
    is_accepted = accepted % 2 == 0
                      ? world.at(0).try_read(1, local, Pieces::kBytes, region, 0, 1 + accepted)
                      : world.at(0).try_write(1, local, Pieces::kBytes, region, 0, 1 + accepted);
    world.poll_all();
  }
  return accepted;
}

void poll_for_a_while(World& world) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < end) world.poll_all();
}

void give_up_a_silent_peer() {
  PeerProcess peer;
  World world = peer.connected();
  greet(world);
  peer.stop();
  const Pieces pieces;
  const size_t accepted = start_transfers(world, peer.region(), pieces);
  EXPECT_GT(accepted, 2u);
  world.at(0).give_up(1);
  ASSERT_TRUE(world.until([&] { return world.completed(0) == 1 + accepted; }, 1000));
  expect_each_cookie_once(world, 1 + accepted);
  for (const Reported& report : world.reports(0))
    EXPECT_EQ(report.event.error != 0, report.event.cookie != 0);
  std::fill_n(pieces.base, Pieces::kBytes, 'u');
  ::munmap(pieces.base + Pieces::kBytes, Pieces::kBytes);
  peer.go_on();
  poll_for_a_while(world);
  EXPECT_EQ(std::count(pieces.base, pieces.base + Pieces::kBytes, 'u'), Pieces::kBytes);
  ::munmap(pieces.base, Pieces::kBytes);
  world.send(0, 1, "later", accepted + 1);
  EXPECT_EQ(world.await_one(0, 1 + accepted).error, -ECONNRESET);
}

TEST(Libfabric, NothingTouchesTheMemoryOfAPeerThatWasGivenUp) {
  give_up_a_silent_peer();
}

// It closes a connection itself when the address is removed. In a fresh process: libfabric reads
// its environment once.
TEST(LibfabricDeathTest, NothingTouchesTheMemoryOfAPeerThatWasGivenUpOverRxm) {
  if (FI_VERSION_GE(::fi_version(), FI_VERSION(1, 18)))
    GTEST_SKIP() << "from libfabric 1.18 on tcp takes no ofi_rxm";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    ::setenv("FI_PROVIDER", "tcp;ofi_rxm", 1);
    give_up_a_silent_peer();
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST(Libfabric, KeysOfRegionsCannotBeGuessed) {
  std::vector<char> memory(kLarge);
  World world(open_libfabric_here(1));
  ASSERT_TRUE(world.at(0).keys_are_secret());
  uint64_t all_ones = UINT64_MAX, any_ones = 0;
  for (int n = 0; n < 64; ++n) {
    const Region region = world.at(0).register_memory(memory.data(), memory.size());
    all_ones &= region.key;
    any_ones |= region.key;
    world.at(0).deregister(region);
  }
  EXPECT_EQ(all_ones, 0u);
  EXPECT_EQ(any_ones, UINT64_MAX) << "every bit is used";
}

// The provider ends the connection for it, with all that is under way.
TEST(Libfabric, AForgedRegionEndsTheLinkButNothingHangs) {
  PeerProcess peer;
  World world = peer.connected();
  greet(world);
  Region forged = peer.region();
  forged.key += 1000;
  std::vector<char> local(kLarge);
  world.write(0, 1, local.data(), local.size(), forged, 0, 1);
  EXPECT_NE(world.await_one(0, 1).error, 0);
  world.send(0, 1, "later", 2);
  EXPECT_NE(world.await_one(0, 2).error, 0);
}

}  // namespace
}  // namespace nagaya::fabric
