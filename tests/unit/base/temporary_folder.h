// SPDX-License-Identifier: BSD-3-Clause
// temporary_folder.h - a folder for a test, removed with all in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace nagaya::base {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string made = ::testing::TempDir() + "base-test-XXXXXX";
    path_ = ::mkdtemp(made.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace nagaya::base
