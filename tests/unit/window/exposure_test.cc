// SPDX-License-Identifier: BSD-3-Clause
// Post, start, complete and wait in random groups.
#include "members.h"

namespace nagaya::window {
namespace {

const nagaya_window_memory kDynamic{NAGAYA_WINDOW_DYNAMIC, nullptr, 0, 1, 0, 0};

// In each round every member may be a target of random origins. Members go through their rounds at
// their own pace, each round as post, start, complete, wait.
class Rounds {
 public:
  Rounds(Members& members, const Handles& handles, uint32_t count)
      : members_(members), handles_(handles), accesses_(count) {
    for (auto& round : accesses_) {
      round.resize(members.size(), std::vector<bool>(members.size()));
      for (auto& origins : round)
        for (uint32_t origin = 0; origin < members.size(); ++origin)
          origins[origin] = members.random() % 3 == 0;
    }
    at_.resize(members.size());
  }

  void run() {
    members_.poll_all([this](uint32_t rank) { return advance(rank); });
  }

 private:
  struct At {
    uint32_t round = 0, step = 0, started = 0;
    std::vector<uint32_t> origins, targets;
  };

  // Takes one step of a member, if it is possible. Returns whether its rounds are over.
  bool advance(uint32_t rank) {
    At& at = at_[rank];
    Window& window = *handles_[rank];
    if (at.step == 0) {
      at.origins.clear(), at.targets.clear(), at.started = 0;
      for (const uint32_t other : members_.in_random_order()) {
        if (accesses_[at.round][rank][other]) at.origins.push_back(other);
        if (accesses_[at.round][other][rank]) at.targets.push_back(other);
      }
      EXPECT_EQ(window.post(at.origins, false), 0);
      EXPECT_EQ(window.post(at.origins, false), -EBUSY);
      EXPECT_EQ(window.epochs().begin_start(), 0);
      ++at.step;
    } else if (at.step == 1) {
      while (at.started < at.targets.size() && window.start(at.targets[at.started], false)) {
        // The target is in this round's exposure, and waits for this member's complete().
        EXPECT_EQ(at_[at.targets[at.started]].round, at.round);
        EXPECT_TRUE(handles_[at.targets[at.started]]->is_posted());
        EXPECT_TRUE(window.epochs().may_access(at.targets[at.started]));
        ++at.started;
      }
      if (at.started == at.targets.size()) ++at.step;
    } else if (at.step == 2) {
      EXPECT_TRUE(window.epochs().is_started());
      window.complete();
      window.epochs().end_start();
      for (uint32_t other = 0; other < members_.size(); ++other)
        EXPECT_FALSE(window.epochs().may_access(other));
      ++at.step;
    } else if (window.end_exposure()) {
      for (const uint32_t origin : at.origins)
        EXPECT_TRUE(at_[origin].round > at.round || at_[origin].step == 3);
      at.step = 0;
      return ++at.round == accesses_.size();
    }
    return false;
  }

  Members& members_;
  const Handles& handles_;
  std::vector<std::vector<std::vector<bool>>> accesses_;  // by round, target, origin
  std::vector<At> at_;
};

TEST(Exposure, RandomGroupsAccessOnlyWhatIsExposedInTheirRound) {
  for (const uint32_t size : {1u, 2u, 5u, 16u}) {
    Members members(size);
    const Handles handles = members.opened(kDynamic);
    Rounds(members, handles, 60).run();
    for (const auto& window : handles) EXPECT_FALSE(window->is_posted());
  }
}

TEST(Exposure, AnUncheckedStartNeedsNoPost) {
  Members members(2);
  const Handles handles = members.opened(kDynamic);
  const uint32_t origin = 1;
  EXPECT_EQ(handles[0]->post({&origin, 1}, true), 0);
  EXPECT_FALSE(handles[0]->end_exposure());
  EXPECT_EQ(handles[1]->epochs().begin_start(), 0);
  EXPECT_TRUE(handles[1]->start(0, true));
  handles[1]->complete();
  EXPECT_TRUE(handles[0]->end_exposure());
}

}  // namespace
}  // namespace nagaya::window
