// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzers of hosts' statuses, and of core files.
#include "corpus.h"
#include "../../fuzz/core_target.h"
#include "../../fuzz/status_target.h"

namespace nagaya {
namespace {

TEST(Corpus, OfStatusesIsShownOrRefused) {
  EXPECT_GT(replay("status", fuzz::show_status_payload), 5u);
}

TEST(Corpus, OfCoreFilesIsReadOrRefused) {
  EXPECT_GT(replay("core", fuzz::read_core), 8u);
}

}  // namespace
}  // namespace nagaya
