// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/lone_ranks.h"

#include <gtest/gtest.h>

#include "proxy/job.h"
#include "proxy/program_role.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

std::vector<std::string> complaints;

}  // namespace

void complain(const std::string& text) {
  complaints.push_back(text);
}

namespace {

using Strings = std::vector<std::string>;

// Returns the line for a program without MPI.
std::string line_in(const Strings& environment, const LaunchedJob& job) {
  return lone_rank({"/proc/self/exe", "itself", {}, environment}, job).value_or("");
}

LaunchedJob launched_by(LauncherKind launcher, int64_t ranks) {
  LaunchedJob job;
  job.launcher = launcher;
  job.ranks = ranks;
  job.local_rank = 0;
  return job;
}

TEST(LoneRank, IsNoneWithoutALauncherAndWithoutMpi) {
  EXPECT_EQ(line_in({}, {}), "");
  EXPECT_EQ(line_in({"PMI_RANK=0", "PMI_SIZE=2"}, launched_by(LauncherKind::kMpich, 2)), "");
}

TEST(LoneRank, IsToldByOneRankIfItsLauncherIsNotKnown) {
  EXPECT_EQ(line_in({"PMIX_NAMESPACE=a", "PMIX_RANK=0"}, {}), "");
  EXPECT_NE(line_in({"PMIX_NAMESPACE=a", "PMIX_RANK=1"}, {}), "");
  EXPECT_EQ(line_in({"PMIX_NAMESPACE=a", "PMIX_RANK=2"}, {}), "");
  EXPECT_EQ(line_in({"PMIX_NAMESPACE=a", "PMIX_RANK=1"}, launched_by(LauncherKind::kSlurm, 2)), "");
}

TEST(LoneRank, IsToldByOneRankIfTwoLaunchersContradictEachOther) {
  const LaunchedJob job = launched_by(LauncherKind::kOpenMpi, 2);
  EXPECT_EQ(line_in({"OMPI_COMM_WORLD_RANK=0", "PMI_RANK=0"}, job), "");
  EXPECT_NE(line_in({"OMPI_COMM_WORLD_RANK=0", "PMI_RANK=1"}, job), "");
  EXPECT_EQ(line_in({"OMPI_COMM_WORLD_RANK=1", "PMI_RANK=0"}, job), "");
  EXPECT_EQ(line_in({"OMPI_COMM_WORLD_RANK=1", "PMI_RANK=1"}, job), "");  // both of nagaya run
}

TEST(LoneRank, IsToldOnce) {
  task::ProgramText text{"/proc/self/exe", "itself", {}, {"PMIX_NAMESPACE=a", "PMIX_RANK=1"}};
  complaints.clear();
  tell_of_lone_rank(text, {}, {});
  tell_of_lone_rank(text, {}, {});  // a program that the first one executes
  EXPECT_EQ(complaints, Strings{line_in({"PMIX_NAMESPACE=a", "PMIX_RANK=1"}, {})});
}

}  // namespace
}  // namespace nagaya::tools
