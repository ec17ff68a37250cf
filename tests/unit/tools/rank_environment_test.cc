// SPDX-License-Identifier: BSD-3-Clause
#include "launch/rank_environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace nagaya::tools {
namespace {

// Returns the variable's value; "unset" if there is none.
std::string value_in(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& variable : environment)
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  return "unset";
}

ParallelJob job_of_two_programs() {
  ParallelJob job;
  job.name = "job.0";
  job.applications = {{.command = {"./first", "-v", "1"}, .count = 2},
                      {.command = {"second"}, .count = 3, .directory = "/tmp"}};
  job.universe_size = 8;
  return job;
}

TEST(RankEnvironment, TellsEachRankItsPlaceAsOpenMpiAndMpichDo) {
  const auto environment = environment_of_rank(job_of_two_programs(), 3);
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                           "OMPI_COMM_WORLD_NODE_RANK", "PMI_RANK", "MPI_LOCALRANKID"})
    EXPECT_EQ(value_in(environment, name), "3") << name;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                           "OMPI_MCA_orte_ess_num_procs", "PMI_SIZE", "MPI_LOCALNRANKS"})
    EXPECT_EQ(value_in(environment, name), "5") << name;
  EXPECT_EQ(value_in(environment, "OMPI_UNIVERSE_SIZE"), "8");
}

TEST(RankEnvironment, DescribesAllProgramsOfTheJob) {
  const auto environment = environment_of_rank(job_of_two_programs(), 0);
  EXPECT_EQ(value_in(environment, "OMPI_NUM_APP_CTX"), "2");
  EXPECT_EQ(value_in(environment, "OMPI_APP_CTX_NUM_PROCS"), "2 3");
  EXPECT_EQ(value_in(environment, "OMPI_FIRST_RANKS"), "0 2");
}

TEST(RankEnvironment, DescribesTheRanksOwnProgram) {
  const auto first = environment_of_rank(job_of_two_programs(), 1);
  EXPECT_EQ(value_in(first, "OMPI_COMMAND"), "./first");
  EXPECT_EQ(value_in(first, "OMPI_ARGV"), "-v 1");
  EXPECT_EQ(value_in(first, "OMPI_MCA_initial_wdir"), std::filesystem::current_path());
  const auto second = environment_of_rank(job_of_two_programs(), 2);
  EXPECT_EQ(value_in(second, "OMPI_COMMAND"), "second");
  EXPECT_EQ(value_in(second, "OMPI_ARGV"), "");
  EXPECT_EQ(value_in(second, "OMPI_MCA_initial_wdir"), "/tmp");
}

TEST(RankEnvironment, LeavesOutArgumentsThatTheKernelWouldRefuseInAVariable) {
  ParallelJob job = job_of_two_programs();
  job.applications[0].command.push_back(std::string(128 << 10, 'x'));
  EXPECT_EQ(value_in(environment_of_rank(job, 0), "OMPI_ARGV"), "");
}

TEST(RankEnvironment, TellsOfOversubscriptionInBothCases) {
  ParallelJob job = job_of_two_programs();
  EXPECT_EQ(value_in(environment_of_rank(job, 0), "OMPI_MCA_mpi_oversubscribe"), "0");
  job.is_oversubscribed = true;
  EXPECT_EQ(value_in(environment_of_rank(job, 0), "OMPI_MCA_mpi_oversubscribe"), "1");
}

TEST(RankEnvironment, TellsMpichOfSpawnedRanksInBothCases) {
  ParallelJob job = job_of_two_programs();
  EXPECT_EQ(value_in(environment_of_rank(job, 0), "PMI_SPAWNED"), "0");
  job.id = 1;
  EXPECT_EQ(value_in(environment_of_rank(job, 0), "PMI_SPAWNED"), "1");
}

TEST(RankEnvironment, SetsEachVariableOnce) {
  std::vector<std::string> names;
  for (const std::string& variable : environment_of_rank(job_of_two_programs(), 0))
    names.push_back(variable.substr(0, variable.find('=')));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(RankEnvironment, KnowsVariablesOfALauncherAroundThisOne) {
  EXPECT_TRUE(is_of_outer_launcher("OMPI_MCA_orte_hnp_uri=1.0;tcp://192.0.2.1:5"));
  EXPECT_TRUE(is_of_outer_launcher("OMPI_PARENT_PORT="));
  EXPECT_FALSE(is_of_outer_launcher("OMPI_MCA_pml=ob1"));
  EXPECT_FALSE(is_of_outer_launcher("OMPI_PARENT_PORTS=1"));
}

}  // namespace
}  // namespace nagaya::tools
