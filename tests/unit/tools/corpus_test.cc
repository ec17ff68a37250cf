// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzers of what hosts say of their jobs.
#include "corpus.h"
#include "../../fuzz/status_target.h"

namespace nagaya {
namespace {

TEST(Corpus, OfStatusesIsShownOrRefused) {
  EXPECT_GT(replay("status", fuzz::show_status_payload), 5u);
}

}  // namespace
}  // namespace nagaya
