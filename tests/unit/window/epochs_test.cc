// SPDX-License-Identifier: BSD-3-Clause
#include "window/epochs.h"

#include <gtest/gtest.h>

namespace nagaya::window {
namespace {

class EpochsTest : public testing::Test {
 protected:
  int lock(uint32_t rank) {
    const int error = epochs_.begin_lock(rank, &has_others_);
    if (error == 0) epochs_.set_target(rank, Access::kShared);
    return error;
  }
  int unlock(uint32_t rank) {
    Access access;
    return epochs_.end_lock(rank, &access);
  }
  int unlock_all() {
    bool was_unchecked;
    return epochs_.end_lock_all(&was_unchecked);
  }

  Epochs epochs_{3, true};
  bool has_others_ = false;
};

TEST_F(EpochsTest, WithoutAnEpochNothingMayBeAccessedOrEnded) {
  EXPECT_FALSE(epochs_.may_access(0));
  EXPECT_TRUE(epochs_.has_no_open_epoch());
  EXPECT_FALSE(epochs_.is_started());
  EXPECT_EQ(unlock(0), -EPROTO);
  EXPECT_EQ(unlock_all(), -EPROTO);
  EXPECT_FALSE(epochs_.has_locks());
}

TEST_F(EpochsTest, AFenceWithoutAccessesMayBeTheLast) {
  epochs_.end_fence(true);
  EXPECT_EQ(lock(1), 0);
  EXPECT_EQ(epochs_.begin_fence(), -EBUSY);
}

TEST_F(EpochsTest, AFenceWithAccessesNeedsAnotherFence) {
  epochs_.end_fence(true);
  EXPECT_TRUE(epochs_.may_access(2));
  epochs_.note_access();
  EXPECT_EQ(lock(1), -EBUSY);
  EXPECT_EQ(epochs_.begin_start(), -EBUSY);
  EXPECT_EQ(epochs_.begin_lock_all(false), -EBUSY);
  EXPECT_EQ(epochs_.begin_fence(), 0);
  epochs_.end_fence(false);
  EXPECT_FALSE(epochs_.may_access(2));
  EXPECT_EQ(lock(1), 0);
}

TEST_F(EpochsTest, WhileAFenceWaitsNothingElseBegins) {
  EXPECT_EQ(epochs_.begin_fence(), 0);
  EXPECT_EQ(lock(1), -EBUSY);
  EXPECT_EQ(epochs_.begin_start(), -EBUSY);
  EXPECT_FALSE(epochs_.may_access(1));
  epochs_.end_fence(true);
  EXPECT_TRUE(epochs_.may_access(1));
}

TEST_F(EpochsTest, ALockIsForItsTargetAlone) {
  EXPECT_EQ(lock(1), 0);
  EXPECT_FALSE(has_others_);
  EXPECT_TRUE(epochs_.may_access(1));
  EXPECT_FALSE(epochs_.may_access(0));
  EXPECT_FALSE(epochs_.has_lock(0));
  EXPECT_EQ(lock(1), -EPROTO);
  EXPECT_EQ(lock(2), 0);
  EXPECT_TRUE(has_others_);
  EXPECT_EQ(epochs_.begin_start(), -EBUSY);
  EXPECT_EQ(epochs_.begin_lock_all(false), -EBUSY);
  EXPECT_EQ(unlock(0), -EPROTO);
  EXPECT_EQ(unlock(1), 0);
  EXPECT_FALSE(epochs_.has_no_open_epoch());
  EXPECT_EQ(unlock(2), 0);
  EXPECT_TRUE(epochs_.has_no_open_epoch());
}

TEST_F(EpochsTest, ARequestedLockGivesNoAccess) {
  EXPECT_EQ(epochs_.begin_lock(1, &has_others_), 0);
  EXPECT_FALSE(epochs_.may_access(1));
  EXPECT_FALSE(epochs_.has_lock(1));
  EXPECT_EQ(lock(1), -EPROTO);
  EXPECT_EQ(unlock(1), -EPROTO);
}

TEST_F(EpochsTest, ALockThatIsUndoneLeavesTheEpochOfAFence) {
  EXPECT_EQ(epochs_.begin_fence(), 0);
  epochs_.end_fence(true);
  EXPECT_EQ(epochs_.begin_lock(1, &has_others_), 0);
  epochs_.undo_lock(1);
  EXPECT_TRUE(epochs_.may_access(1));
  EXPECT_FALSE(epochs_.has_lock(1));
}

TEST_F(EpochsTest, LockAllIsForAllTargets) {
  EXPECT_EQ(epochs_.begin_lock_all(false), 0);
  EXPECT_FALSE(epochs_.may_access(0));
  EXPECT_EQ(unlock_all(), -EPROTO);
  EXPECT_EQ(epochs_.begin_lock_all(false), -EPROTO);
  epochs_.grant_lock_all();
  EXPECT_EQ(epochs_.begin_lock_all(false), -EPROTO);
  EXPECT_EQ(lock(0), -EBUSY);
  EXPECT_TRUE(epochs_.may_access(0) && epochs_.may_access(2));
  EXPECT_EQ(unlock(0), -EPROTO);
  EXPECT_EQ(unlock_all(), 0);
  EXPECT_EQ(unlock_all(), -EPROTO);
}

TEST_F(EpochsTest, AStartIsForItsTargetsUntilItsComplete) {
  EXPECT_EQ(epochs_.begin_start(), 0);
  epochs_.set_target(2, Access::kStarted);
  EXPECT_TRUE(epochs_.may_access(2));
  EXPECT_FALSE(epochs_.may_access(1));
  EXPECT_EQ(epochs_.begin_start(), -EBUSY);
  EXPECT_EQ(epochs_.begin_fence(), -EBUSY);
  EXPECT_EQ(lock(1), -EBUSY);
  EXPECT_EQ(unlock(2), -EPROTO);
  EXPECT_TRUE(epochs_.is_started());
  epochs_.end_start();
}

}  // namespace
}  // namespace nagaya::window
