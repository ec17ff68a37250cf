// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <gtest/gtest.h>

namespace nagaya::base {
namespace {

TEST(Error, CarriesANegativeErrnoAndOneLine) {
  try {
    throw_errno("cannot bind", EADDRINUSE);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), -EADDRINUSE);
    EXPECT_STREQ(error.what(), "cannot bind: Address already in use");
  }
}

}  // namespace
}  // namespace nagaya::base
