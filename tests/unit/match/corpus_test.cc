// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzer of cells.
#include "corpus.h"
#include "../../fuzz/cell_target.h"

namespace nagaya {
namespace {

TEST(Corpus, OfCellsTouchesNothingButTheBuffersOfReceives) {
  EXPECT_GT(replay("cell", fuzz::hear_cells), 5u);
}

}  // namespace
}  // namespace nagaya
