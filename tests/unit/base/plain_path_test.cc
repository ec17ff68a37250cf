// SPDX-License-Identifier: BSD-3-Clause
#include "base/plain_path.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>

#include "temporary_folder.h"

namespace nagaya::base {
namespace {

namespace fs = std::filesystem;

int exit_code_of_child(const std::string& path, const std::string& also_through) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Another process, and one that another program has taken the place of.
    const std::string command = "test -r " + path + " && test -r " + also_through;
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(PlainPath, IsThePathItselfWhereNothingSplitsIt) {
  for (const char* path : {"/usr/lib/x86_64-linux-gnu/libm.so.6",
                           "/home/gr\xc3\xb6\xc3\x9f"
                           "e/a-b_c.d+1,2@x=%"})
    EXPECT_EQ(PathLinks::own().plain_path(path), path);
}

TEST(PlainPath, ReachesTheSameFileFromOtherProcesses) {
  const TemporaryFolder folder;
  for (const char* name : {"My Projects", "a:b", "it's", "$(touch x)", "`x`", "a;b", "line\nbreak",
                           "tab\t", "\"", "\\", "*", "~", "x&y", "!"}) {
    const fs::path place = folder.path() / name;
    fs::create_directory(place);
    std::ofstream(place / "file") << name;
    const std::string plain = PathLinks::own().plain_path(place / "file");
    EXPECT_TRUE(is_plain(plain)) << plain;
    EXPECT_TRUE(fs::equivalent(plain, place / "file")) << plain;
    EXPECT_EQ(plain, PathLinks::own().plain_path(place / "file"));  // the same descriptor
    EXPECT_EQ(exit_code_of_child(plain, plain), 0) << plain;
  }
}

TEST(PlainPath, LivesThroughAnExecOnlyWhenItIsPassedOn) {
  const TemporaryFolder folder;
  const fs::path place = folder.path() / "with blanks";
  fs::create_directory(place);
  std::ofstream(place / "file");
  const fs::path plain = PathLinks::own().plain_path(place / "file");
  const std::string number = plain.parent_path().filename();
  const auto own = "/proc/self/fd/" + number + "/file";
  EXPECT_NE(exit_code_of_child(plain, own), 0);
  PathLinks::own().pass_on(true);
  EXPECT_EQ(exit_code_of_child(plain, own), 0);
  PathLinks::own().pass_on(false);
  EXPECT_NE(exit_code_of_child(plain, own), 0);
}

TEST(PlainPath, AFileWhoseOwnNameIsNotPlainIsRefusedByName) {
  try {
    PathLinks::own().plain_path("/tmp/a file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), -EINVAL);
    EXPECT_NE(std::string(error.what()).find("/tmp/a file"), std::string::npos);
  }
}

}  // namespace
}  // namespace nagaya::base
