// SPDX-License-Identifier: BSD-3-Clause
// Attached regions against a map of single bytes, and while another thread searches them.
#include <set>

#include "members.h"

namespace nagaya::window {
namespace {

constexpr uint64_t kBytes = 200;
const nagaya_window_memory kDynamic{NAGAYA_WINDOW_DYNAMIC, nullptr, 0, 1, 0, 0};

TEST(Attachments, ContainTheBytesThatAreAttached) {
  Members members(1);
  const Handles handles = members.opened(kDynamic);
  Attachments& attachments = handles[0]->part(0).attachments;
  const llcl::Group& group = handles[0]->group();
  std::vector<bool> is_attached(kBytes);
  std::vector<std::pair<uint64_t, uint64_t>> regions;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t begin = members.random() % kBytes;
    const uint64_t bytes = 1 + members.random() % std::min<uint64_t>(kBytes - begin, 12);
    const auto has = [&](bool wanted) {
      for (uint64_t n = begin; n < begin + bytes; ++n)
        if (is_attached[n] != wanted) return false;
      return true;
    };
    ASSERT_EQ(attachments.contains(begin, bytes), has(true));
    if (members.random() % 2 == 0) {
      ASSERT_EQ(attachments.attach(group, begin, bytes), has(false) ? 0 : -EEXIST);
      if (!has(false)) continue;
      for (uint64_t n = begin; n < begin + bytes; ++n) is_attached[n] = true;
      regions.emplace_back(begin, bytes);
    } else if (!regions.empty()) {
      const size_t which = members.random() % regions.size();
      const auto [base, length] = regions[which];
      ASSERT_EQ(attachments.detach(base), 0);
      ASSERT_EQ(attachments.detach(base), -ENOENT);
      for (uint64_t n = base; n < base + length; ++n) is_attached[n] = false;
      regions.erase(regions.begin() + static_cast<ptrdiff_t>(which));
    }
  }
}

TEST(Attachments, NothingIsContainedAtTheEndOfTheAddresses) {
  Members members(1);
  const Handles handles = members.opened(kDynamic);
  EXPECT_FALSE(handles[0]->part(0).attachments.contains(UINT64_MAX - 3, 8));
  EXPECT_EQ(handles[0]->part(0).attachments.attach(handles[0]->group(), UINT64_MAX - 3, 8),
            -EINVAL);
}

TEST(Attachments, AnEmptyRegionIsAttachedAndDetached) {
  Members members(1);
  const Handles handles = members.opened(kDynamic);
  char one;
  EXPECT_EQ(handles[0]->attach(&one, 0), 0);
  EXPECT_EQ(handles[0]->attach(&one, 1), 0);
  EXPECT_EQ(handles[0]->detach(&one), 0);
  EXPECT_EQ(handles[0]->detach(&one), 0);
  EXPECT_EQ(handles[0]->detach(&one), -ENOENT);
}

TEST(Attachments, ARegionStaysInReachWhileOthersComeAndGo) {
  Members members(2);
  const Handles handles = members.opened(kDynamic);
  Attachments& attachments = handles[0]->part(0).attachments;
  const llcl::Group& group = handles[0]->group();
  ASSERT_EQ(attachments.attach(group, 5000, 10), 0);
  std::atomic<bool> is_over = false;
  std::thread reader([&] {
    while (!is_over) {
      ASSERT_TRUE(attachments.contains(5002, 8));
      ASSERT_FALSE(attachments.contains(5002, 9));
    }
  });
  for (int round = 0; round < 50; ++round) {
    for (uint64_t n = 0; n < 100; ++n) ASSERT_EQ(attachments.attach(group, 20 * n + 1, 10), 0);
    for (uint64_t n = 0; n < 100; ++n) ASSERT_EQ(attachments.detach(20 * n + 1), 0);
  }
  is_over = true;
  reader.join();
}

}  // namespace
}  // namespace nagaya::window
