// SPDX-License-Identifier: BSD-3-Clause
#include "comm/imports.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace nagaya::comm {
namespace {

constexpr pid_t kNobody = -7;

pid_t nobody() {
  return kNobody;
}

// getppid: this program imports it, and no compiler knows its result.
TEST(BindImport, BindsTheImportOfAProgramAndBack) {
  void* const real = ::dlsym(RTLD_DEFAULT, "getppid");
  const pid_t parent = ::getppid();
  bind_import("getppid", reinterpret_cast<void*>(nobody));
  EXPECT_EQ(::getppid(), kNobody);
  bind_import("getppid", real);
  EXPECT_EQ(::getppid(), parent);
}

TEST(BindImport, LeavesOtherImportsAlone) {
  const pid_t own = ::getpid(), parent = ::getppid();
  bind_import("getppi", reinterpret_cast<void*>(nobody));
  bind_import("getppid_", reinterpret_cast<void*>(nobody));
  EXPECT_EQ(::getpid(), own);
  EXPECT_EQ(::getppid(), parent);
}

}  // namespace
}  // namespace nagaya::comm
