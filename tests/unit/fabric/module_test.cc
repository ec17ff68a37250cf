// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/module.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cstdlib>

#include "base/error.h"

namespace nagaya::fabric {
namespace {

// Each in a fresh process: libfabric reads its environment once.
class ModuleDeathTest : public testing::Test {
 protected:
  ModuleDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Ends the process with the error's text.
  [[noreturn]] static void open_with(const char* variable, const char* value) {
    ::setenv(variable, value, 1);
    try {
      const std::unique_ptr<Fabric> fabric = open_libfabric();
      const std::string addresses[] = {fabric->address()};
      fabric->connect(addresses, 0);
      std::fprintf(stderr, "opened");
    } catch (const base::Error& error) {
      std::fprintf(stderr, "%s", error.what());
    }
    std::_Exit(0);
  }
};

// Ends the process with the numbers of the signals whose handler is another one afterwards.
[[noreturn]] void open_and_look_at_signals() {
  const auto handlers = [] {
    std::array<void (*)(int), NSIG> all{};
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action {};
      if (::sigaction(signal, nullptr, &action) == 0) all[signal] = action.sa_handler;
    }
    return all;
  };
  const auto before = handlers();
  const std::unique_ptr<Fabric> fabric = open_libfabric();
  const auto after = handlers();
  std::fprintf(stderr, "changed:");
  for (int signal = 1; signal < NSIG; ++signal)
    if (after[signal] != before[signal]) std::fprintf(stderr, " %d", signal);
  std::fprintf(stderr, ".");
  std::_Exit(0);
}

using testing::ExitedWithCode;

TEST_F(ModuleDeathTest, OpensWithTheDefaultProvider) {
  EXPECT_EXIT(open_with("UNUSED", ""), ExitedWithCode(0), "^opened$");
}

TEST_F(ModuleDeathTest, OpensWithTheUsersProvider) {
  // With libfabric 1.17 that is not what is opened by default, but tcp;ofi_rxm.
  EXPECT_EXIT(open_with("FI_PROVIDER", "tcp"), ExitedWithCode(0), "^opened$");
}

TEST_F(ModuleDeathTest, SaysWhichProviderIsMissing) {
  EXPECT_EXIT(open_with("FI_PROVIDER", "nosuch"), ExitedWithCode(0),
              "^no fabric for FI_PROVIDER=nosuch: .*; fi_info -l lists the providers");
}

TEST_F(ModuleDeathTest, RefusesBuffersThatAMessageDoesNotFit) {
  EXPECT_EXIT(open_with("FI_OFI_RXM_BUFFER_SIZE", "4096"), ExitedWithCode(0),
              "^FI_OFI_RXM_BUFFER_SIZE=4096 is too small");
}

// Libraries that libfabric is linked to install handlers (libpsm_infinipath, in Debian).
TEST_F(ModuleDeathTest, LeavesEverySignalToTheHandlerThatItHad) {
  EXPECT_EXIT(open_and_look_at_signals(), ExitedWithCode(0), "^changed:\\.$");
}

}  // namespace
}  // namespace nagaya::fabric
