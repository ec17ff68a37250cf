// SPDX-License-Identifier: BSD-3-Clause
// The file of NAGAYA_LOG may lie in a folder that strangers write, too.
#include "task/host/host_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/fd.h"
#include "elf_file.h"
#include "error_code.h"

namespace nagaya::task {
namespace {

class HostLogTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  int error_of(const std::string& name) const {
    return code_of([&] { HostLog(path(name)).say("a line"); });
  }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void make(const std::string& name) const { std::ofstream(path(name)) << "before\n"; }

  TemporaryFolder folder_;
};

TEST_F(HostLogTest, AddsALineToAFileThatItMakesOrFinds) {
  EXPECT_EQ(error_of("new"), 0);
  EXPECT_NE(content("new").find("a line\n"), std::string::npos);
  struct stat about {};
  ASSERT_EQ(::stat(path("new").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  make("old");
  EXPECT_EQ(error_of("old"), 0);
  EXPECT_EQ(content("old").find("before\n2"), 0u) << "a date";
}

TEST_F(HostLogTest, FollowsNoLink) {
  make("other");
  std::filesystem::create_symlink(path("other"), path("link"));
  std::filesystem::create_symlink(path("nothing"), path("dangling"));
  EXPECT_EQ(error_of("link"), -ELOOP);
  EXPECT_EQ(error_of("dangling"), -ELOOP);
  EXPECT_EQ(content("other"), "before\n");
  EXPECT_FALSE(std::filesystem::exists(path("nothing")));
}

TEST_F(HostLogTest, WritesToNoFileThatHasAnotherName) {
  make("other");
  std::filesystem::create_hard_link(path("other"), path("name"));
  EXPECT_EQ(error_of("name"), -EPERM);
  EXPECT_EQ(content("other"), "before\n");
}

TEST_F(HostLogTest, WaitsForNobodyWhoReads) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(error_of("fifo"), -ENXIO);
  const base::Fd reader(::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(error_of("fifo"), -EPERM);
  EXPECT_EQ(code_of([] { HostLog("/dev/null"); }), -EPERM);
}

TEST_F(HostLogTest, WritesToNoFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  make("other");
  ASSERT_EQ(::chown(path("other").c_str(), 12345, 12345), 0);
  EXPECT_EQ(error_of("other"), -EPERM);
  EXPECT_EQ(content("other"), "before\n");
}

}  // namespace
}  // namespace nagaya::task
