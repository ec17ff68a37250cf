// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/handles.h"

#include <gtest/gtest.h>

#include <set>

namespace nagaya::llcl {
namespace {

TEST(Handles, LeadToTheirObjectUntilTheyAreTakenBack) {
  Handles<int> handles;
  std::set<uint64_t> seen = {0};
  for (int round = 0; round < 3; ++round) {
    uint64_t given[100];
    for (int n = 0; n < 100; ++n) {
      given[n] = handles.give(n);
      EXPECT_TRUE(seen.insert(given[n]).second) << "a handle is used once";
    }
    for (int n = 0; n < 100; ++n) EXPECT_EQ(*handles.find(given[n]), n);
    for (int n = 0; n < 100; n += 2) handles.take_back(given[n]);
    for (int n = 0; n < 100; ++n) {
      const int* const found = handles.find(given[n]);
      EXPECT_TRUE(n % 2 == 0 ? found == nullptr : found != nullptr && *found == n) << n;
    }
    for (int n = 1; n < 100; n += 2) handles.take_back(given[n]);
  }
}

TEST(Handles, ThatWereNeverGivenLeadNowhere) {
  Handles<int> handles;
  EXPECT_EQ(handles.find(0), nullptr);
  EXPECT_EQ(handles.find(1), nullptr);
  const uint64_t given = handles.give(5);
  for (const uint64_t wrong : {given + 1, given - 1, given + (uint64_t{1} << 32), ~given,
                               uint64_t{UINT32_MAX}, UINT64_MAX})
    EXPECT_EQ(handles.find(wrong), nullptr) << wrong;
  handles.take_back(given + (uint64_t{1} << 32));
  EXPECT_EQ(*handles.find(given), 5);
  handles.take_back(given);
  handles.take_back(given);  // as if nothing had happened
  EXPECT_NE(handles.give(5), handles.give(5));
}

}  // namespace
}  // namespace nagaya::llcl
