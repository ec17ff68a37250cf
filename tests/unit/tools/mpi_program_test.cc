// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpi_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"

namespace nagaya::tools {
namespace {

using Words = std::vector<std::string>;

class HostFile : public ::testing::Test {
 protected:
  HostFile() : path_(::testing::TempDir() + "hosts." + std::to_string(::getpid())) {}
  ~HostFile() override { ::unlink(path_.c_str()); }

  HostChoice holding(const std::string& text) {
    std::ofstream(path_) << text;
    return {std::nullopt, path_};
  }

  const std::string path_;
};

HostChoice listed(const std::string& list) {
  return {list, std::nullopt};
}

TEST(HostOptions, AreThoseOfTheLauncher) {
  const struct {
    LauncherKind kind;
    Words options;
  } cases[] = {
      {LauncherKind::kOpenMpi, {"--host", "a:2,b:3"}},
      {LauncherKind::kMpich, {"-hosts", "a:2,b:3"}},
      {LauncherKind::kSlurm, {"--nodelist=a,b", "--nodes=2"}},
      {LauncherKind::kNone, {}},
  };
  for (const auto& one : cases) EXPECT_EQ(host_options(one.kind, listed("a:2,b:3")), one.options);
}

TEST_F(HostFile, IsTheLaunchersToReadWhereItCan) {
  const HostChoice hosts = holding("a slots=2\nb slots=3\na\n");
  EXPECT_EQ(host_options(LauncherKind::kOpenMpi, hosts), (Words{"--hostfile", path_}));
  EXPECT_EQ(host_options(LauncherKind::kMpich, hosts), (Words{"-f", path_}));
  EXPECT_EQ(host_options(LauncherKind::kSlurm, hosts), (Words{"--nodelist=a,b", "--nodes=2"}));
}

TEST(HostOptions, AreNoneWhenNoHostsAreSaid) {
  EXPECT_EQ(host_options(LauncherKind::kOpenMpi, {}), Words{});
  EXPECT_EQ(host_options(LauncherKind::kSlurm, {}), Words{});
}

TEST(NamesOf, AreThoseOfTheListWithoutSlots) {
  EXPECT_EQ(names_of(listed("a")), Words{"a"});
  EXPECT_EQ(names_of(listed("a:4,b.example,c:1")), (Words{"a", "b.example", "c"}));
}

TEST(NamesOf, AreNotEmpty) {
  for (const char* list : {"", ",", "a,", ",a", "a,,b", ":2"})
    EXPECT_THROW(names_of(listed(list)), base::Error) << list;
}

TEST_F(HostFile, HasANamePerLineAndComments) {
  EXPECT_EQ(names_of(holding("# all\n\n a slots=2\nb:3\n\tc # the last")), (Words{"a", "b", "c"}));
}

TEST_F(HostFile, NamesAHostAtLeast) {
  EXPECT_THROW(names_of(holding("# nobody\n  \n")), base::Error);
  EXPECT_THROW(names_of({std::nullopt, path_ + ".missing"}), base::Error);
}

}  // namespace
}  // namespace nagaya::tools
