// SPDX-License-Identifier: BSD-3-Clause
// Replays tests/fuzz/corpus/batch: the batches of raw_batch.h, and what the fuzzer found.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../fuzz/batch_target.h"

namespace nagaya::delegatee {
namespace {

const std::filesystem::path kCorpus = std::filesystem::path(NAGAYA_TEST_CORPORA) / "batch";

TEST(Corpus, OfBatchesTouchesNothingThatIsNotRegistered) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    fuzz::hear_batch(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  EXPECT_GT(files, 20u);
}

}  // namespace
}  // namespace nagaya::delegatee
