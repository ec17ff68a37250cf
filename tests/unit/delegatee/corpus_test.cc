// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzers of batches (those of raw_batch.h, and the fuzzer's finds), of
// altered ones, of backlogs and of questions.
#include "corpus.h"
#include "../../fuzz/backlog_target.h"
#include "../../fuzz/batch_target.h"
#include "../../fuzz/proof_target.h"
#include "../../fuzz/question_target.h"

namespace nagaya {
namespace {

TEST(Corpus, OfBatchesTouchesNothingThatIsNotRegistered) {
  EXPECT_GT(replay("batch", fuzz::hear_batch), 20u);
}

TEST(Corpus, OfAlteredBatchesIsRefusedOrHarmless) {
  EXPECT_GT(replay("proof", fuzz::alter_signed_batch), 5u);
}

TEST(Corpus, OfBacklogsStaysInTheBudget) {
  EXPECT_GT(replay("backlog", fuzz::fill_backlogs), 3u);
}

TEST(Corpus, OfQuestionsIsAnsweredOrRefused) {
  EXPECT_GT(replay("question", fuzz::decode_question_payload), 5u);
}

}  // namespace
}  // namespace nagaya
