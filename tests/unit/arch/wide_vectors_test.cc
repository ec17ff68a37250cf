// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "arch/arch.h"

namespace nagaya::arch {
namespace {

TEST(WideVectors, AreThereIfTheCompilersLibrarySaysSo) {
  EXPECT_EQ(has_wide_vectors(), __builtin_cpu_supports("avx2") != 0);
}

}  // namespace
}  // namespace nagaya::arch
