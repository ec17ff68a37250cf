// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_spawn.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "launch/pmix_info.h"

namespace nagaya::tools {
namespace {

using Strings = std::vector<std::string>;

// A program as libpmix describes it; all of it is constant.
pmix_app_t app(const char* program, int count) {
  pmix_app_t result{};
  result.cmd = const_cast<char*>(program);
  result.maxprocs = count;
  return result;
}

int code_of_error(const std::vector<pmix_app_t>& apps) {
  try {
    applications_of(apps.data(), apps.size());
  } catch (const base::Error& error) {
    return error.code();
  }
  return 0;
}

TEST(PmixSpawn, TakesProgramArgumentsCountAndEnvironment) {
  char program[] = "solve", argument[] = "-v", variable[] = "OMPI_PARENT_PORT=1.0:2";
  char* argv[] = {program, argument, nullptr};
  char* environment[] = {variable, nullptr};
  pmix_app_t first = app("./solve", 3);
  first.argv = argv;
  first.env = environment;
  const pmix_app_t both[] = {first, app("other", 1)};
  const auto applications = applications_of(both, 2);
  ASSERT_EQ(applications.size(), 2u);
  EXPECT_EQ(applications[0].command, (Strings{"./solve", "-v"}));
  EXPECT_EQ(applications[0].count, 3u);
  EXPECT_EQ(applications[0].environment, Strings{"OMPI_PARENT_PORT=1.0:2"});
  EXPECT_EQ(applications[0].directory, "");
  EXPECT_EQ(applications[1].command, Strings{"other"});
}

TEST(PmixSpawn, PrefersTheKeyOfTheDirectory) {
  PmixInfo info;
  info.add_text(PMIX_WDIR, "/tmp");
  pmix_app_t one = app("solve", 1);
  char directory[] = "/home";
  one.cwd = directory;
  EXPECT_EQ(applications_of(&one, 1)[0].directory, "/home");
  one.info = info.data();
  one.ninfo = info.size();
  EXPECT_EQ(applications_of(&one, 1)[0].directory, "/tmp");
}

TEST(PmixSpawn, RefusesWhatMakesNoSense) {
  EXPECT_EQ(code_of_error({}), -EINVAL);
  EXPECT_EQ(code_of_error({app(nullptr, 1)}), -EINVAL);
  EXPECT_EQ(code_of_error({app("", 1)}), -EINVAL);
  EXPECT_EQ(code_of_error({app("solve", 0)}), -EINVAL);
  EXPECT_EQ(code_of_error({app("solve", -1)}), -EINVAL);
  EXPECT_EQ(code_of_error({app("solve", 60000), app("solve", 60000)}), -EINVAL);
}

TEST(PmixSpawn, RefusesAnotherHost) {
  PmixInfo info;
  info.add_text(PMIX_HOST, "localhost,elsewhere.example:2");
  pmix_app_t one = app("solve", 1);
  one.info = info.data();
  one.ninfo = info.size();
  EXPECT_EQ(code_of_error({one}), -ENOTSUP);
}

}  // namespace
}  // namespace nagaya::tools
