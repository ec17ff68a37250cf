// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace nagaya::tools {
namespace {

using Variables = std::map<std::string, std::string>;

const Variables kOpenMpi = {{"PMIX_NAMESPACE", "3.1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                            {"OMPI_COMM_WORLD_SIZE", "7"},
                            {"OMPI_MCA_orte_precondition_transports", "0123-4567"}};
const Variables kHydra = {
    {"PMI_RANK", "9"}, {"PMI_SIZE", "10"}, {"MPI_LOCALNRANKS", "5"}, {"MPI_LOCALRANKID", "1"}};
const Variables kSlurm = {{"SLURM_JOB_ID", "17"},         {"SLURM_STEP_ID", "0"},
                          {"SLURM_LOCALID", "2"},         {"SLURM_NODEID", "1"},
                          {"SLURM_STEP_NUM_TASKS", "14"}, {"SLURM_STEP_TASKS_PER_NODE", "8,6"}};

LaunchedJob job_in(const std::vector<Variables>& environments) {
  for (const auto& variables : {kOpenMpi, kHydra, kSlurm})
    for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  for (const auto& variables : environments)
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return job_of_environment();
}

Variables changed(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

bool same_key(const LaunchedJob& a, const LaunchedJob& b) {
  return std::equal(std::begin(a.job.key), std::end(a.job.key), std::begin(b.job.key));
}

TEST(JobOfEnvironment, TakesCountAndNumberFromTheLauncher) {
  const struct {
    Variables variables;
    LauncherKind launcher;
    int64_t ranks;
    uint32_t tasks;
    int64_t local_rank;
    bool signals_groups;
  } cases[] = {{kOpenMpi, LauncherKind::kOpenMpi, 7, 4, 3, true},
               {kHydra, LauncherKind::kMpich, 10, 5, 1, true},
               {kSlurm, LauncherKind::kSlurm, 14, 6, 2, false}};
  for (const auto& one : cases) {
    const LaunchedJob found = job_in({one.variables});
    EXPECT_EQ(found.launcher, one.launcher) << found.job.name;
    EXPECT_EQ(found.ranks, one.ranks) << found.job.name;
    EXPECT_EQ(found.job.group_tasks, one.tasks) << found.job.name;
    EXPECT_EQ(found.local_rank, one.local_rank) << found.job.name;
    EXPECT_EQ(found.job.launcher_pid, ::getppid()) << found.job.name;
    EXPECT_EQ(found.signals_groups, one.signals_groups) << found.job.name;
  }
}

TEST(JobOfEnvironment, IsTheSameForAllRanksOfAJob) {
  const LaunchedJob one = job_in({kSlurm});
  const LaunchedJob other = job_in({changed(kSlurm, "SLURM_LOCALID", "5")});
  EXPECT_EQ(one.job.name, other.job.name);
  EXPECT_EQ(one.job.group, other.job.group);
  EXPECT_TRUE(same_key(one, other));
}

TEST(JobOfEnvironment, IsAnotherForAnotherStep) {
  const LaunchedJob one = job_in({kSlurm});
  const LaunchedJob other = job_in({changed(kSlurm, "SLURM_STEP_ID", "1")});
  EXPECT_NE(one.job.name, other.job.name);
  EXPECT_FALSE(same_key(one, other));
}

TEST(JobOfEnvironment, SharesASpaceWithTheJobsThatItsMpirunSpawns) {
  const LaunchedJob parent = job_in({kOpenMpi});
  const LaunchedJob child = job_in({changed(kOpenMpi, "PMIX_NAMESPACE", "3.2")});
  EXPECT_EQ(parent.job.name, child.job.name);
  EXPECT_TRUE(same_key(parent, child));
  EXPECT_NE(parent.job.group, child.job.group);
}

TEST(JobOfEnvironment, PrefersTheInnermostLauncher) {
  EXPECT_EQ(job_in({kSlurm, kOpenMpi}).job.group, "3.1");
  EXPECT_EQ(job_in({kSlurm, kHydra}).job.group_tasks, 5u);
}

TEST(JobOfEnvironment, IsAloneWithoutALauncher) {
  const LaunchedJob one = job_in({}), other = job_in({});
  EXPECT_EQ(one.job.launcher_pid, ::getpid());
  EXPECT_EQ(one.launcher, LauncherKind::kNone);
  EXPECT_EQ(one.ranks, 1);
  EXPECT_EQ(one.job.group_tasks, 1u);
  EXPECT_NE(one.job.name, other.job.name);
  EXPECT_FALSE(same_key(one, other));
  Variables batch_script = kSlurm;
  batch_script.erase("SLURM_STEP_ID");
  EXPECT_EQ(job_in({batch_script}).job.launcher_pid, ::getpid());
}

TEST(SlurmTasksOnNode, ReadsTheNotationOfSlurm) {
  EXPECT_EQ(slurm_tasks_on_node("4", 0), 4u);
  EXPECT_EQ(slurm_tasks_on_node("4(x2),3", 0), 4u);
  EXPECT_EQ(slurm_tasks_on_node("4(x2),3", 1), 4u);
  EXPECT_EQ(slurm_tasks_on_node("4(x2),3", 2), 3u);
  EXPECT_EQ(slurm_tasks_on_node("4(x2),3", 3), 0u);
  EXPECT_EQ(slurm_tasks_on_node("", 0), 0u);
  EXPECT_EQ(slurm_tasks_on_node("nonsense", 0), 0u);
}

}  // namespace
}  // namespace nagaya::tools
