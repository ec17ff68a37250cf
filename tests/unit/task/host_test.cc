// SPDX-License-Identifier: BSD-3-Clause
// The host's loop, in this process, with tasks that make nothing but system calls; and the seeds of
// its fuzzer.
#include "task/host.h"

#include <gtest/gtest.h>

#include "../../fuzz/host_target.h"
#include "corpus.h"

namespace nagaya {
namespace {

using namespace fuzz;

TEST(Host, ServesOthersWhateverItsClientsDo) {
  EXPECT_GT(replay("host", serve_liars), 10u);
}

}  // namespace
}  // namespace nagaya
