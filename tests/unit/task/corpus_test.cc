// SPDX-License-Identifier: BSD-3-Clause
// Replays the seeds of the fuzzers (tests/fuzz/corpus), so that every build checks what they
// have found, with and without clang.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../fuzz/targets.h"

namespace {

size_t replay(const std::string& name, void (*target)(const uint8_t*, size_t)) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(NAGAYA_TEST_CORPORA) + "/" + name)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  return files;
}

TEST(Corpus, OfProgramFilesIsAnsweredOrRefused) {
  EXPECT_GT(replay("elf", nagaya::fuzz::read_program_file), 5u);
}

TEST(Corpus, OfLaunchesIsAnsweredOrRefused) {
  EXPECT_GT(replay("launch", nagaya::fuzz::decode_launch_payload), 5u);
}

TEST(Corpus, OfConnectionsIsAnsweredOrRefused) {
  EXPECT_GT(replay("channel", nagaya::fuzz::receive_stream), 5u);
}

}  // namespace
