// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving, within a budget, of a copier that copies twice and two helpers; and the same
// with a helper, or the copier, that stops for ever before any of its operations.
#include <gtest/gtest.h>

#include <array>
#include <iostream>

#include "llcl/board/cooperative_copy.h"
#include "mailbox/schedule.h"

namespace nagaya::llcl {
namespace {

using mailbox::Owner;
using Schedule = mailbox::schedule::Run;

constexpr uint64_t kBytes = 3;
constexpr Owner kCopier = Owner::task(1, 1);

// Tells in which memory nobody may copy any longer.
struct Memory {
  std::array<std::byte, kBytes> source, target;
  uint64_t bytes;
  bool over;
  bool has_layouts;  // which nobody may look at any longer, either
  nagaya_runs source_runs, target_runs;
  Layouts layouts;

  void end() {
    over = true;
    layouts = {};
  }
};
struct TestMachine : mailbox::schedule::Machine {
  static constexpr uint64_t kOfferedMinBytes = kBytes - 1, kChunksWanted = kBytes,
                            kChunkMinBytes = 1, kChunkMaxBytes = 1, kRunsChunkMinBytes = 1,
                            kPageBytes = 1;
  static inline std::array<Memory, 2> memory;
  static inline std::string failure;

  static void move(std::byte* target, const std::byte* source, uint64_t bytes) {
    bool known = false;
    for (Memory& one : memory)
      if (target >= one.target.begin() && target + bytes <= one.target.end()) {
        known = source - one.source.begin() == target - one.target.begin();
        if (one.over) failure = "a chunk of a copy that is over";
      }
    if (!known) failure = "sides that do not belong together";
    std::memcpy(target, source, bytes);
  }
  static void move(layout::Walk target, layout::Walk source, uint64_t bytes) {
    move(target.at(), source.at(), bytes);
  }
};

struct TestNode {
  const mailbox::Load idle{1, 1};
  Owner mortal{};

  const mailbox::Load& load() const { return idle; }
  std::function<void()> on_wake = [] {};

  bool is_alive(Owner owner) const {
    return owner != mortal || !Schedule::current().somebody_died();
  }
  void wake(uint32_t) const { on_wake(); }
};

class Copies {
 public:
  explicit Copies(Owner mortal) : node_{.mortal = mortal} {
    TestMachine::failure.clear();
    for (Memory& one : TestMachine::memory) {
      const bool is_first = &one == TestMachine::memory.begin();
      const uint64_t bytes = is_first ? kBytes - 1 : kBytes;  // late helpers come to a longer one
      one = {.source = {std::byte{1}, std::byte{2}, std::byte{3}},
             .target = {},
             .bytes = bytes,
             .over = false,
             .has_layouts = !is_first,
             .source_runs = {one.source.data(), 1, bytes, 1},
             .target_runs = {one.target.data(), 1, bytes, 1},
             .layouts = {layout::Walk(&one.target_runs), layout::Walk(&one.source_runs)}};
    }
  }
  void copy_both() {
    for (Memory& one : TestMachine::memory) {
      const Layouts* const layouts = one.has_layouts ? &one.layouts : nullptr;
      offers_->copy({one.target.data(), one.source.data(), one.bytes, 2, layouts}, kCopier, node_);
      if (!std::equal(one.target.begin(), one.target.begin() + one.bytes, one.source.begin()))
        TestMachine::failure = "not all was copied";
      one.end();
    }
  }
  // By the next task of the same number, after the schedule.
  bool later_is_helped() {
    bool is_helped = false;
    Memory& one = TestMachine::memory[0];
    one.over = false;
    offers_->copy({one.target.data(), one.source.data(), one.bytes, 2}, Owner::task(1, 2),
                  TestNode{.on_wake = [&] { is_helped = offers_->help(Owner::task(2, 1)); }});
    return is_helped;
  }
  void help(uint32_t helper, int times) {
    for (int n = 0; n < times; ++n) offers_->help(Owner::task(helper, 1));
  }
  void close() {
    Schedule::current().await_death();
    if (!Schedule::current().somebody_died()) return;
    offers_->close(kCopier);
    while (!offers_->release(kCopier, node_)) TestMachine::yield();
    for (Memory& one : TestMachine::memory) one.end();
  }
  bool any() const { return offers_->any(); }

 private:
  using Offers = BasicCopyOffers<TestMachine>;
  const TestNode node_;
  std::unique_ptr<Offers> offers_ = std::make_unique<Offers>();
};

uint64_t explore(int budget, const std::function<std::string(Schedule&)>& test) {
  std::string failure;
  const uint64_t runs = mailbox::schedule::explore(budget, test, failure);
  EXPECT_EQ(failure, "") << "in schedule " << runs;
  return runs;
}

// How often each helper looks.
uint64_t explore_helpers(int budget, std::initializer_list<int> looks) {
  return explore(budget, [&](Schedule& run) {
    Copies copies({});
    run.add([&] { copies.copy_both(); });
    uint32_t helper = 2;
    for (const int times : looks)
      run.add([&, times, task = helper++] { copies.help(task, times); });
    const std::string failure = run.go();
    return failure.empty() ? TestMachine::failure : failure;
  });
}

TEST(CooperativeCopySchedules, CopyEverythingAndNothingAfterItsEnd) {
  const uint64_t several = explore_helpers(2, {2, 1});
  // Into the first offer, out of it, and into the second: a helper that comes too late.
  const uint64_t late = explore_helpers(3, {1});
  std::cout << several << " and " << late << " schedules\n";
}

TEST(CooperativeCopySchedules, EndTheCopyWhereverAHelperDies) {
  uint64_t runs = 0, steps = 0;
  for (bool died = true; died; ++steps) {
    died = false;
    runs += explore(2, [&](Schedule& run) {
      Copies copies(Owner::task(2, 1));
      run.add([&] { copies.copy_both(); });
      run.add([&] { copies.help(2, 2); }, steps);
      const std::string failure = run.go();
      died |= run.somebody_died();
      return failure.empty() ? TestMachine::failure : failure;
    });
  }
  EXPECT_GT(steps, 10U);  // it did die at several
  std::cout << runs << " schedules, death at " << steps - 1 << " steps\n";
}

TEST(CooperativeCopySchedules, EndWhereverTheCopierDies) {
  uint64_t runs = 0, steps = 0;
  for (bool died = true; died; ++steps) {
    died = false;
    runs += explore(1, [&](Schedule& run) {
      Copies copies(kCopier);
      run.add([&] { copies.copy_both(); }, steps);
      run.add([&] { copies.help(2, 2); });
      run.add([&] { copies.close(); });
      const std::string failure = run.go();
      died |= run.somebody_died();
      if (run.somebody_died() && copies.any()) return std::string("an offer is still open");
      if (!copies.later_is_helped()) return std::string("nobody can help in a later copy");
      return failure.empty() ? TestMachine::failure : failure;
    });
  }
  EXPECT_GT(steps, 20U);
  std::cout << runs << " schedules, death at " << steps - 1 << " steps\n";
}

}  // namespace
}  // namespace nagaya::llcl
