// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzer of channel ends.
#include "corpus.h"
#include "../../fuzz/channel_end_target.h"

namespace nagaya {
namespace {

TEST(Corpus, OfChannelEndsNamesPlacesOfItsSenderOnly) {
  EXPECT_GT(replay("channel_end", fuzz::accept_channel_end), 5u);
}

}  // namespace
}  // namespace nagaya
