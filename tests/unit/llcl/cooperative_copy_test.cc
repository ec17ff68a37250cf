// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/cooperative_copy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace nagaya::llcl {
namespace {

using mailbox::Owner;
using Bytes = std::vector<std::byte>;

constexpr Owner kCopier = Owner::task(1, 1), kPeer = Owner::task(2, 1), kThird = Owner::task(3, 1);
constexpr uint64_t kBytes = 200'003;  // in chunks of the least size, the last of which is not whole

// A node on which everybody lives; `on_wake` runs while the offer is open.
struct TestNode {
  std::function<void()> on_wake = [] {};
  mailbox::Load busy{1, 2};

  const mailbox::Load& load() const { return busy; }
  bool is_alive(Owner) const { return true; }
  void wake(uint32_t) const { on_wake(); }
};

Bytes pattern(uint64_t bytes, unsigned seed) {
  Bytes all(bytes);
  for (uint64_t at = 0; at < bytes; ++at) all[at] = std::byte(at * 31 + at / 251 + seed);
  return all;
}

class CooperativeCopy : public testing::Test {
 protected:
  // Runs `on_wake` in the middle of a copy.
  void copy(std::function<void()> on_wake, uint64_t bytes = kBytes, Owner self = kCopier) {
    offers_->copy({target_.data(), source_.data(), bytes, kPeer.number()}, self,
                  TestNode{std::move(on_wake)});
  }

  std::unique_ptr<CopyOffers> offers_ = std::make_unique<CopyOffers>();  // zeros, as of the host
  Bytes source_ = pattern(kBytes, 1), target_ = Bytes(kBytes);
};

TEST_F(CooperativeCopy, IsWholeWhenNobodyHelps) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, CopyMachine::kOfferedMinBytes, kBytes}) {
    std::fill(target_.begin(), target_.end(), std::byte{0});
    copy([] {}, bytes);
    EXPECT_TRUE(std::equal(source_.begin(), source_.begin() + bytes, target_.begin()));
    EXPECT_EQ(std::count(target_.begin() + bytes, target_.end(), std::byte{0}), kBytes - bytes);
  }
}

TEST_F(CooperativeCopy, IsDoneByOthersChunkByChunk) {
  uint64_t chunks = 0;
  copy([&] {
    EXPECT_TRUE(offers_->any());
    while (offers_->help(chunks % 2 == 0 ? kPeer : kThird)) ++chunks;
  });
  EXPECT_EQ(chunks, kBytes / CopyMachine::kChunkMinBytes + 1);
  EXPECT_EQ(target_, source_);
  EXPECT_FALSE(offers_->any());
  EXPECT_FALSE(offers_->help(kPeer));
}

TEST_F(CooperativeCopy, HelpersBeginAtTheBack) {
  copy([&] {
    EXPECT_TRUE(offers_->help(kPeer));
    EXPECT_TRUE(offers_->help(kThird));
    const uint64_t chunk = CopyMachine::kChunkMinBytes, last = kBytes / chunk * chunk;
    EXPECT_TRUE(
        std::equal(target_.begin() + last - chunk, target_.end(), source_.begin() + last - chunk));
    EXPECT_EQ(std::count(target_.begin(), target_.begin() + last - chunk, std::byte{0}),
              last - chunk);
  });
  EXPECT_EQ(target_, source_);
}

TEST_F(CooperativeCopy, OfRunsIsDoneByOthersChunkByChunk) {
  constexpr uint64_t kMoved = CopyMachine::kOfferedMinBytes / 24 * 24 + 24;
  const nagaya_runs from{source_.data(), 8, kMoved / 8, 16},
      to{target_.data(), 24, kMoved / 24, 32};
  const Layouts layouts{layout::Walk(&to), layout::Walk(&from)};
  uint64_t chunks = 0;
  offers_->copy({nullptr, nullptr, kMoved, kPeer.number(), &layouts}, kCopier, TestNode{[&] {
                  while (chunks < 3 && offers_->help(kPeer)) ++chunks;
                }});
  EXPECT_EQ(chunks, 3U);
  Bytes expected(target_.size());
  for (uint64_t n = 0; n < kMoved; ++n)
    expected[n / 24 * 32 + n % 24] = source_[n / 8 * 16 + n % 8];
  EXPECT_EQ(target_, expected);
}

TEST_F(CooperativeCopy, OfMoreThanAllChunksHasLargerOnes) {
  source_ = pattern(260 * CopyMachine::kChunkMaxBytes + 5, 2);
  target_ = Bytes(source_.size());
  uint64_t chunks = 0;
  copy(
      [&] {
        while (offers_->help(kPeer)) ++chunks;
      },
      source_.size());
  EXPECT_GT(chunks, 128U);
  EXPECT_LE(chunks, 256U);
  EXPECT_EQ(target_, source_);
}

TEST_F(CooperativeCopy, IsOfferedOnlyWhenThatIsWorthItAndSafe) {
  bool offered = false;
  const auto note = [&] { offered = true; };
  copy(note, CopyMachine::kOfferedMinBytes - 1);
  EXPECT_FALSE(offered) << "small";
  offers_->copy({target_.data(), source_.data(), kBytes, 2}, kCopier, TestNode{note, {3, 2}});
  EXPECT_FALSE(offered) << "on a crowded node";
  Bytes both = pattern(kBytes + 10, 3);
  const Bytes before(both.begin(), both.begin() + kBytes);
  offers_->copy({both.data() + 10, both.data(), kBytes, 2}, kCopier, TestNode{note});
  EXPECT_FALSE(offered) << "with two sides that overlap";
  EXPECT_TRUE(std::equal(before.begin(), before.end(), both.begin() + 10));
  copy(note);
  EXPECT_TRUE(offered);
}

TEST_F(CooperativeCopy, IsHelpedByItsPeerFirst) {
  Bytes other(kBytes);
  const auto helped = [&](Owner helper) {  // the target of which the helper has done a chunk
    std::fill(target_.begin(), target_.end(), std::byte{0});
    std::fill(other.begin(), other.end(), std::byte{0});
    const Bytes* done = nullptr;
    copy([&] {
      const auto in_both = [&] {
        EXPECT_TRUE(offers_->help(helper));
        done = std::count(target_.begin(), target_.end(), std::byte{0}) < int64_t{kBytes} ? &target_
                                                                                          : &other;
      };
      offers_->copy({other.data(), source_.data(), kBytes, kThird.number()}, kCopier,
                    TestNode{in_both});
    });
    EXPECT_EQ(other, source_);
    return done;
  };
  EXPECT_EQ(helped(kPeer), &target_);
  EXPECT_EQ(helped(kThird), &other);
}

TEST_F(CooperativeCopy, WithoutAPlaceForItsOfferIsDoneAlone) {
  uint32_t depth = 0, offered = 0;
  std::vector<Bytes> targets(66, Bytes(CopyMachine::kOfferedMinBytes));
  std::function<void()> deeper = [&] {
    if (depth == targets.size()) return;
    Bytes& target = targets[depth++];
    offers_->copy({target.data(), source_.data(), target.size(), 2}, kCopier, TestNode{[&] {
                    ++offered;
                    deeper();
                  }});
    deeper();  // the one that was not offered has not gone deeper
  };
  for (int round = 0; round < 2; ++round) {
    depth = offered = 0;
    deeper();
    EXPECT_EQ(offered, 64U) << "round " << round;
    for (const Bytes& target : targets)
      EXPECT_TRUE(std::equal(target.begin(), target.end(), source_.begin()));
  }
}

TEST(CooperativeCopyThreads, CopyAndHelpAtTheSameTime) {
  const auto offers = std::make_unique<CopyOffers>();
  std::atomic<bool> over{false};
  std::atomic<uint64_t> helped{0};
  std::vector<std::thread> threads;
  for (uint32_t helper = 0; helper < 2; ++helper)
    threads.emplace_back([&, helper] {
      while (!over.load(std::memory_order_relaxed))
        if (offers->any() && offers->help(Owner::task(helper, 1)))
          helped.fetch_add(1, std::memory_order_relaxed);
        else
          std::this_thread::yield();
    });
  std::vector<std::thread> copiers;
  for (uint32_t copier = 2; copier < 4; ++copier)
    copiers.emplace_back([&, copier] {
      Bytes target(kBytes);
      for (unsigned round = 0; round < 20; ++round) {
        const Bytes source = pattern(kBytes, round + copier);  // freed, and taken anew, each time
        const uint64_t before = helped.load(std::memory_order_relaxed);
        const auto until_helped = [&] {
          while (round == 0 && helped.load(std::memory_order_relaxed) == before)
            std::this_thread::yield();
        };
        offers->copy({target.data(), source.data(), kBytes, 0}, Owner::task(copier, 1),
                     TestNode{until_helped});
        ASSERT_EQ(target, source);
      }
    });
  for (std::thread& copier : copiers) copier.join();
  over.store(true);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace nagaya::llcl
