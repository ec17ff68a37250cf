// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzer of batches: those of raw_batch.h, and what the fuzzer found.
#include "../../fuzz/batch_target.h"
#include "corpus.h"

namespace nagaya {
namespace {

TEST(Corpus, OfBatchesTouchesNothingThatIsNotRegistered) {
  EXPECT_GT(replay("batch", fuzz::hear_batch), 20u);
}

}  // namespace
}  // namespace nagaya
