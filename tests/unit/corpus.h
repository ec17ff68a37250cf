// SPDX-License-Identifier: BSD-3-Clause
// corpus.h - replays the seeds of a fuzzer (tests/fuzz/corpus), so that every build, with and
// without clang, checks the inputs that the fuzzer has found.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace nagaya {

// Gives every file of corpus `name` to `target`; returns how many there are.
inline size_t replay(const std::string& name, void (*target)(const uint8_t*, size_t)) {
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

}  // namespace nagaya
