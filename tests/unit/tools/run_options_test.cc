// SPDX-License-Identifier: BSD-3-Clause
#include "launch/run_options.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "launch/launcher_words.h"
#include "tool.h"

namespace nagaya::tools {

void complain(const std::string& text) {
  ::testing::Test::RecordProperty("said", text);
}

namespace {

using Words = std::vector<std::string>;

Application application(const Words& command, uint32_t count) {
  return {command, count, "", {}};
}

TEST(RunOptions, ATimeLimitIsSecondsOrFieldsOfATime) {
  EXPECT_EQ(time_limit_of("90").count(), 90);
  EXPECT_EQ(time_limit_of("1:30").count(), 90);
  EXPECT_EQ(time_limit_of("1:30:05").count(), 5405);
  for (const char* text : {"", "0", "0:0", "-1", "1.5", "1s", "1:", ":1", "1:2:3:4", "1::2",
                           "10000000000", "999999999:0:0", "99999999999999999999"})
    EXPECT_THROW(time_limit_of(text), OptionError) << text;
}

TEST(RunOptions, AVariableHasItsValueHereUnlessOneIsGiven) {
  ::setenv("RUN_OPTIONS_TEST", "here=1", 1);
  EXPECT_EQ(variable_of("RUN_OPTIONS_TEST"), "RUN_OPTIONS_TEST=here=1");
  EXPECT_EQ(variable_of("RUN_OPTIONS_TEST="), "RUN_OPTIONS_TEST=");
  EXPECT_EQ(variable_of("A=b=c"), "A=b=c");
  EXPECT_EQ(variable_of("RUN_OPTIONS_NOWHERE"), "");
  EXPECT_THROW(variable_of(""), OptionError);
  EXPECT_THROW(variable_of("=x"), OptionError);
}

TEST(RunOptions, AJobHasProgramsAndAtMost4096Ranks) {
  EXPECT_NO_THROW(check({application({"a"}, 1), application({"b"}, 4095)}));
  EXPECT_THROW(check({application({"a"}, 1), application({"b"}, 4096)}), OptionError);
  EXPECT_THROW(check({application({}, 1)}), OptionError);
  EXPECT_THROW(check({application({"a"}, 1), application({}, 1)}), OptionError);
}

TEST(LauncherWords, AreThoseOfEachLauncher) {
  LaunchChoice choice;
  choice.streams.label = true;
  choice.streams.input = "1";
  EXPECT_EQ(job_words(LauncherKind::kOpenMpi, choice), (Words{"--tag-output", "--stdin", "1"}));
  EXPECT_EQ(job_words(LauncherKind::kSlurm, choice), (Words{"--label", "--input", "1"}));
  EXPECT_THROW(job_words(LauncherKind::kMpich, choice), OptionError);
  choice = {};
  choice.binding.bind_to = "core";
  choice.time_limit = std::chrono::seconds(9);
  EXPECT_EQ(job_words(LauncherKind::kOpenMpi, choice),
            (Words{"--bind-to", "core", "--timeout", "9"}));
  EXPECT_THROW(job_words(LauncherKind::kSlurm, choice), OptionError);
  EXPECT_EQ(job_words(LauncherKind::kSlurm, {}), Words{});
}

TEST(LauncherWords, SeveralProgramsStandBetweenColons) {
  Application first = application({"a", "-x"}, 1), second = application({"b"}, 3);
  second.directory = "/d";
  second.environment = {"A=1=2"};
  EXPECT_EQ(program_words(LauncherKind::kOpenMpi, {first, second}, {"-x", "FI_X"}, {}),
            (Words{"-n", "1", "-x", "FI_X", "a", "-x", ":", "-n", "3", "-x", "FI_X", "-wdir", "/d",
                   "-x", "A=1=2", "b"}));
  EXPECT_EQ(program_words(LauncherKind::kMpich, {first, second}, {}, {"nagaya", "exec"}),
            (Words{"-n", "1", "nagaya", "exec", "a", "-x", ":", "-n", "3", "-wdir", "/d", "-env",
                   "A", "1=2", "nagaya", "exec", "b"}));
  EXPECT_EQ(program_words(LauncherKind::kSlurm, {second}, {}, {"nagaya", "exec"}),
            (Words{"-n", "3", "--chdir=/d", "env", "A=1=2", "nagaya", "exec", "b"}));
  EXPECT_THROW(program_words(LauncherKind::kSlurm, {first, second}, {}, {}), OptionError);
}

}  // namespace
}  // namespace nagaya::tools
