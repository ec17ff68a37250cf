// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzers of program files and of the join protocol.
#include "corpus.h"
#include "../../fuzz/targets.h"

namespace nagaya {
namespace {

TEST(Corpus, OfProgramFilesIsAnsweredOrRefused) {
  EXPECT_GT(replay("elf", fuzz::read_program_file), 5u);
}

TEST(Corpus, OfLaunchesIsAnsweredOrRefused) {
  EXPECT_GT(replay("launch", fuzz::decode_launch_payload), 5u);
}

TEST(Corpus, OfConnectionsIsAnsweredOrRefused) {
  EXPECT_GT(replay("channel", fuzz::receive_stream), 5u);
}

}  // namespace
}  // namespace nagaya
