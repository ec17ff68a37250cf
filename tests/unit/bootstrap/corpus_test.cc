// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzers of what other processes and the launcher of a job say.
#include "corpus.h"
#include "../../fuzz/card_target.h"
#include "../../fuzz/pmi1_target.h"

namespace nagaya {
namespace {

TEST(Corpus, OfCardsIsReadOrRefused) {
  EXPECT_GT(replay("card", fuzz::decode_published_card), 5u);
}

TEST(Corpus, OfAnswersByPmiIsReadOrRefused) {
  EXPECT_GT(replay("pmi1", fuzz::answer_by_pmi), 5u);
}

}  // namespace
}  // namespace nagaya
