// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/misuse.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace nagaya::llcl {
namespace {

constexpr uint64_t kReadableBytes = 4096, kRangeFromHome = uint64_t{1} << 40;

// One task, whose home may be read at its beginning only, and whose range lies elsewhere.
class CheckLocalTest : public testing::Test {
 protected:
  void SetUp() override {
    home_ = mmap(nullptr, task::kHomeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    ASSERT_NE(home_, MAP_FAILED);
    ASSERT_EQ(mprotect(home_, kReadableBytes, PROT_READ), 0);
    space_.capacity = 1;
    space_.home_base = reinterpret_cast<uint64_t>(home_);
    space_.range_base = space_.home_base + kRangeFromHome;
    space_.range_bytes = uint64_t{16} << 30;
  }
  void TearDown() override { munmap(home_, task::kHomeBytes); }

  // Out of line: a compiler that knows the sizes finds them wrong.
  [[gnu::noinline]] int check(const void* local, uint64_t bytes) {
    return check_local(space_, local, bytes);
  }

  task::SpaceHeader space_{};
  void* home_ = nullptr;
};

TEST_F(CheckLocalTest, ReadsTheFirstAndTheLastByte) {
  EXPECT_EQ(check(home_, kReadableBytes), 0);
  EXPECT_EQ(check(nullptr, 0), 0);
  EXPECT_DEATH(check(home_, kReadableBytes + 1), "");
  EXPECT_DEATH(check(nullptr, 1), "");
}

TEST_F(CheckLocalTest, RefusesWhatEndsBehindItsPartEvenInAnotherPartOfTheSameTask) {
  EXPECT_EQ(check(home_, task::kHomeBytes + 1), -EINVAL);
  EXPECT_EQ(check(home_, kRangeFromHome + 1), -EINVAL);
  EXPECT_EQ(check(home_, UINT64_MAX), -EINVAL);
}

}  // namespace
}  // namespace nagaya::llcl
