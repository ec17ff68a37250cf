// SPDX-License-Identifier: BSD-3-Clause
// A process is killed in the middle of a chunk: a helper, then the copier.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "llcl/board/cooperative_copy.h"

namespace nagaya::llcl {
namespace {

using mailbox::Owner;

constexpr Owner kCopier = Owner::task(1, 1), kHelper = Owner::task(2, 1),
                kThird = Owner::task(3, 1);
constexpr uint64_t kBytes = 4 * CopyMachine::kChunkMinBytes;

// A copy that stops its process halfway, or does there what the test says, once.
struct StoppingMachine : CopyMachine {
  static inline bool stops = false;
  static inline std::function<void()> halfway = [] {};

  static void move(std::byte* target, const std::byte* source, uint64_t bytes) {
    std::memcpy(target, source, bytes / 2);
    if (stops) ::kill(::getpid(), SIGSTOP);
    std::exchange(halfway, [] {})();
    std::memcpy(target + bytes / 2, source + bytes / 2, bytes - bytes / 2);
  }
  // Moves runs that lie one behind the other.
  static void move(layout::Walk target, layout::Walk source, uint64_t bytes) {
    move(target.at(), source.at(), bytes);
  }
};
using Offers = BasicCopyOffers<StoppingMachine>;

struct TestNode {
  std::function<bool(Owner)> alive;
  std::function<void()> on_wake = [] {};
  mailbox::Load busy{1, 2};

  const mailbox::Load& load() const { return busy; }
  bool is_alive(Owner owner) const { return alive(owner); }
  void wake(uint32_t) const { on_wake(); }
};

const TestNode kHelperLives{[](Owner owner) { return owner == kHelper; }};

// Memory that forked processes share, as tasks share all memory.
struct Shared {
  Offers offers;
  std::byte source[kBytes], target[kBytes];
  nagaya_runs source_runs, target_runs;
  Layouts layouts;
};

pid_t stopped_in_a_chunk(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);  // it stops: see docs/bugs.md, the group that was hung up
    ::alarm(20);
    StoppingMachine::stops = true;
    work();
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  EXPECT_TRUE(WIFSTOPPED(status)) << "it took no chunk";
  return child;
}

void kill_and_reap(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// The sides: one run each, or many.
class CooperativeCopyDeath : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    shared_.source_runs = {shared_.source, 64, kBytes / 64, 64};
    shared_.target_runs = {shared_.target, 64, kBytes / 64, 64};
    shared_.layouts = {layout::Walk(&shared_.target_runs), layout::Walk(&shared_.source_runs)};
    for (uint64_t at = 0; at < kBytes; ++at) shared_.source[at] = std::byte(at * 31 + at / 251 + 1);
  }
  void TearDown() override { ::munmap(&shared_, sizeof(Shared)); }

  void copy(const TestNode& node) {
    const Layouts* const layouts = GetParam() ? &shared_.layouts : nullptr;
    shared_.offers.copy({shared_.target, shared_.source, kBytes, kHelper.number(), layouts},
                        kCopier, node);
  }
  bool is_whole() const { return std::memcmp(shared_.target, shared_.source, kBytes) == 0; }
  // How many copies can be offered at once, one within the other.
  uint32_t free_places() {
    uint32_t offered = 0;
    const std::function<void()> deeper = [&] {
      copy({[](Owner) { return true; }, [&] { ++offered, deeper(); }});
    };
    deeper();
    return offered;
  }

  Shared& shared_ = *static_cast<Shared*>(
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
};

// The copier lives, and is in the memory of a peer that has died.
TEST_P(CooperativeCopyDeath, OfTheOtherSideLeavesItsMemoryUntilTheCopyHasEnded) {
  const TestNode copier_lives{[](Owner owner) { return owner == kCopier; }};
  StoppingMachine::halfway = [&] {
    EXPECT_FALSE(shared_.offers.release(kHelper, copier_lives));
    EXPECT_TRUE(shared_.offers.release(kThird, copier_lives));
  };
  copy(copier_lives);
  EXPECT_TRUE(is_whole());
  EXPECT_TRUE(shared_.offers.release(kHelper, copier_lives));
}

TEST_P(CooperativeCopyDeath, OfAHelperInAChunkIsWaitedForAndTheChunkCopiedAgain) {
  pid_t helper = 0;
  int looks = 0;
  const auto help_and_stop = [&] {
    helper = stopped_in_a_chunk([&] { shared_.offers.help(kHelper); });
  };
  const auto dies_at_the_third_look = [&](Owner owner) {
    EXPECT_EQ(owner, kHelper);
    EXPECT_FALSE(is_whole());
    if (++looks == 3) kill_and_reap(helper);
    return looks < 3;
  };
  copy({dies_at_the_third_look, help_and_stop});
  EXPECT_GE(looks, 3);
  EXPECT_TRUE(is_whole());
  EXPECT_EQ(free_places(), 64U);
}

TEST_P(CooperativeCopyDeath, OfACopierInAChunkEndsItsOfferAndFreesThePlace) {
  const pid_t copier = stopped_in_a_chunk([&] { copy({[](Owner) { return true; }}); });
  EXPECT_TRUE(shared_.offers.help(kHelper));
  kill_and_reap(copier);
  EXPECT_TRUE(shared_.offers.any());
  shared_.offers.close(kCopier);
  EXPECT_FALSE(shared_.offers.any());
  EXPECT_FALSE(shared_.offers.help(kHelper));
  EXPECT_TRUE(shared_.offers.release(kCopier, kHelperLives));
  EXPECT_EQ(free_places(), 64U);
}

TEST_P(CooperativeCopyDeath, OfACopierIsOverWhenItsHelperInAChunkHasBeenReaped) {
  const pid_t copier = stopped_in_a_chunk([&] { copy({[](Owner) { return true; }}); });
  kill_and_reap(copier);
  const pid_t helper = stopped_in_a_chunk([&] { shared_.offers.help(kHelper); });
  shared_.offers.close(kCopier);
  EXPECT_FALSE(shared_.offers.release(kCopier, kHelperLives));
  EXPECT_FALSE(shared_.offers.release(kCopier, kHelperLives));
  kill_and_reap(helper);
  EXPECT_TRUE(shared_.offers.release(kCopier, TestNode{[](Owner) { return false; }}));
  EXPECT_EQ(free_places(), 64U);
}

// The copies of free_places() are the next ones in all places that can be claimed.
TEST_P(CooperativeCopyDeath, OfACopierLeavesItsPlaceToAHelperThatStandsStillUntilThatIsOut) {
  const pid_t copier = stopped_in_a_chunk([&] { copy({[](Owner) { return true; }}); });
  kill_and_reap(copier);
  StoppingMachine::halfway = [&] {  // the helper stands still
    shared_.offers.close(kCopier);
    EXPECT_FALSE(shared_.offers.any());
    EXPECT_FALSE(shared_.offers.release(kCopier, kHelperLives));
    EXPECT_FALSE(shared_.offers.help(kThird));
    EXPECT_EQ(free_places(), 63U);
    EXPECT_TRUE(is_whole());
    std::memset(shared_.target, 0, kBytes);
  };
  EXPECT_TRUE(shared_.offers.help(kHelper));
  EXPECT_FALSE(is_whole()) << "the helper goes on in its own chunk only";
  EXPECT_TRUE(shared_.offers.release(kCopier, kHelperLives));
  EXPECT_EQ(free_places(), 64U);
  EXPECT_TRUE(is_whole());
}

TEST_P(CooperativeCopyDeath, OfOneCopierFreesThePlacesThatOthersLeftWhenTheyEnded) {
  const pid_t copier = stopped_in_a_chunk([&] { copy({[](Owner) { return true; }}); });
  kill_and_reap(copier);
  StoppingMachine::halfway = [&] {
    shared_.offers.close(kCopier);
    EXPECT_FALSE(shared_.offers.release(kCopier, kHelperLives));
    EXPECT_TRUE(shared_.offers.release(kThird, kHelperLives));
    EXPECT_EQ(free_places(), 63U);
  };
  EXPECT_TRUE(shared_.offers.help(kHelper));
  EXPECT_TRUE(shared_.offers.release(kThird, kHelperLives));
  EXPECT_EQ(free_places(), 64U);
}

INSTANTIATE_TEST_SUITE_P(Runs, CooperativeCopyDeath, testing::Bool());

}  // namespace
}  // namespace nagaya::llcl
