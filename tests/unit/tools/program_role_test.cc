// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/program_role.h"

#include <gtest/gtest.h>

namespace nagaya::tools {
namespace {

const std::vector<std::string> kEnvironment{"PATH=/usr/bin:/bin"};

Role role(const std::string& program, const std::vector<std::string>& arguments = {}) {
  return guess_role(program, arguments, kEnvironment).role;
}

TEST(ProgramRole, OfCommandsThatHaveNoPartInTheRank) {
  for (const char* program : {"/bin/ls", "/bin/mkdir", "/bin/cp", "/bin/sed", "/bin/true"}) {
    EXPECT_EQ(role(program), Role::kOther) << program;
    EXPECT_EQ(role(program, {"-r", "/data"}), Role::kOther) << program;
  }
  for (const char* program : {"/bin/cp", "/bin/rm", "/bin/ls", "/bin/chmod"})
    EXPECT_EQ(role(program, {"/bin/true", "/bin/ls"}), Role::kOther) << program;
}

TEST(ProgramRole, OfWrappersIsThatOfTheProgramThatTheyStart) {
  for (const char* program : {"/usr/bin/env", "/usr/bin/nice", "/usr/bin/timeout",
                              "/usr/bin/taskset", "/usr/bin/stdbuf", "/usr/bin/nohup"}) {
    EXPECT_EQ(role(program, {"-x", "A=1", "7", "/bin/ls", "-l"}), Role::kWrapper) << program;
    EXPECT_EQ(role(program, {"A=1", "ls"}), Role::kWrapper) << "found in PATH";
    EXPECT_EQ(role(program, {"A=1", "/etc/passwd", "-ls"}), Role::kOther) << program;
    EXPECT_EQ(role(program), Role::kOther) << program;
  }
}

TEST(ProgramRole, OfShellsIsThatOfWrappers) {
  for (const char* program : {"/bin/sh", "/bin/bash", "/bin/dash"})
    EXPECT_EQ(role(program, {"-c", "anything"}), Role::kWrapper) << program;
}

TEST(ProgramRole, OfInterpretersIsThatOfProgramsThatUseAnMpi) {
  for (const char* program : {"/usr/bin/perl", "/usr/bin/python3"})
    EXPECT_EQ(role(program), Role::kCommunicating) << program;
}

TEST(ProgramRole, TellsTheDynamicLinkerOfProgramsThatMayLoadAnMpi) {
  const auto linker = [](const char* program) {
    return guess_role(program, {"ls"}, kEnvironment).linker_of_mpi;
  };
  EXPECT_EQ(linker("/usr/bin/python3"), "/lib64/ld-linux-x86-64.so.2");
  for (const char* program : {"/bin/ls", "/bin/sh", "/usr/bin/env", "/usr/bin/strace"})
    EXPECT_EQ(linker(program), "") << program;
}

TEST(ProgramRole, OfLaunchersAndTracersIsThatOfOverseers) {
  for (const char* program : {"/usr/bin/mpirun.openmpi", "/usr/bin/strace", "/usr/bin/gdb"})
    EXPECT_EQ(role(program, {"/bin/ls"}), Role::kOverseer) << program;
}

TEST(ProgramRole, OfNothingThatCanBeReadIsOther) {
  for (const char* program : {"/no/such/program", "/etc/passwd", "/dev/null", "/"})
    EXPECT_EQ(role(program, {"/bin/ls"}), Role::kOther) << program;
}

}  // namespace
}  // namespace nagaya::tools
