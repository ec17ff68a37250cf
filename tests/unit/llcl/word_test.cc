// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/word.h"

#include <gtest/gtest.h>

namespace nagaya::llcl {
namespace {

TEST(Word, HasReachedWhatItIsNotBehind) {
  for (const uint64_t least : {uint64_t{0}, uint64_t{5}, UINT64_MAX, uint64_t{1} << 63}) {
    EXPECT_TRUE(has_reached(least, least)) << least;
    EXPECT_TRUE(has_reached(least + 1, least)) << least;
    EXPECT_TRUE(has_reached(least + INT64_MAX, least)) << least;
    EXPECT_FALSE(has_reached(least - 1, least)) << least;
    EXPECT_FALSE(has_reached(least - INT64_MAX, least)) << least;
  }
}

}  // namespace
}  // namespace nagaya::llcl
