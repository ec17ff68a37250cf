// SPDX-License-Identifier: BSD-3-Clause
// variant.h - the variants over which the tests of the whole path run.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "delegatee/options.h"
#include "fabric/backend.h"

namespace nagaya::delegatee {

struct Variant {
  const char* name;
  fabric::Backend backend;
  Notification notification;
};

inline constexpr Variant kVariants[] = {
    {"LoopbackPolling", fabric::kBackends[0], Notification::kPolling},
    {"LoopbackKernel", fabric::kBackends[0], Notification::kKernel},
    {"LoopbackAutomatic", fabric::kBackends[0], Notification::kAutomatic},
    {"LibfabricPolling", fabric::kBackends[1], Notification::kPolling},
    {"LibfabricKernel", fabric::kBackends[1], Notification::kKernel},
    {"LibfabricAutomatic", fabric::kBackends[1], Notification::kAutomatic},
};

inline std::string name_of(const ::testing::TestParamInfo<Variant>& info) {
  return info.param.name;
}

}  // namespace nagaya::delegatee
