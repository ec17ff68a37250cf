// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "faces/openmpi/environment.h"
#include "task/load/upper_settings.h"

namespace nagaya::openmpi {
namespace {

using Strings = std::vector<std::string>;

constexpr const char* kOpenMpi4 = "mpirun (Open MPI) 4.1.4\n";

TEST(OpenMpiEnvironment, TellsOfTheRankThatMpirunHasStarted) {
  const Strings environment = {"PMIX_NAMESPACE=3.1", "OMPI_COMM_WORLD_RANK=7",
                               "OMPI_COMM_WORLD_LOCAL_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=3",
                               "OMPI_MCA_orte_precondition_transports=0123-4567"};
  const auto rank = rank_of(environment);
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->job, "3.1");
  EXPECT_EQ(rank->random, "0123-4567");
  EXPECT_EQ(rank->local_size, 4);
  EXPECT_EQ(rank->local_rank, 3);
  EXPECT_TRUE(is_rank(environment));
}

TEST(OpenMpiEnvironment, IsNoRanksWithoutItsLaunchersWords) {
  EXPECT_FALSE(rank_of({"PMIX_NAMESPACE=3.1"}));
  EXPECT_FALSE(rank_of({"PMIX_NAMESPACE=", "OMPI_COMM_WORLD_LOCAL_SIZE=4"}));
  EXPECT_FALSE(rank_of({"OMPI_COMM_WORLD_LOCAL_SIZE=4"}));
  EXPECT_FALSE(is_rank({"PMIX_NAMESPACE=3.1", "OMPI_COMM_WORLD_LOCAL_SIZE=4"}));
}

TEST(OpenMpiEnvironment, ExportsOnlyVariablesOfNagayaAndLibfabric) {
  EXPECT_EQ(export_arguments({"PATH=/bin", "NAGAYA_MPI=on", "OMPI_MCA_pml=ob1", "FI_PROVIDER=tcp"}),
            (Strings{"-x", "NAGAYA_MPI", "-x", "FI_PROVIDER"}));
}

TEST(OpenMpiEnvironment, ForcesTheAgentOnBothLaunchersAndNothingElse) {
  Strings forced;
  for (const Setting& setting : agent_settings("/bin/nagaya exec", kOpenMpi4))
    if (setting.is_forced) {
      EXPECT_EQ(setting.value, "/bin/nagaya exec") << setting.name;
      forced.push_back(setting.name);
    }
  EXPECT_EQ(forced, (Strings{"OMPI_MCA_orte_fork_agent", "PRTE_MCA_odls_base_exec_agent"}));
  for (const Setting& setting : oversubscribing_settings())
    EXPECT_FALSE(setting.is_forced) << setting.name;
}

TEST(OpenMpiEnvironment, AddsSettingsOfATaskOnceAndLeavesThoseOfTheUser) {
  Strings environment = {"PMIX_MCA_gds=hash"};
  task::add_upper_settings(environment);
  task::add_upper_settings(environment);
  EXPECT_EQ(environment, (Strings{"PMIX_MCA_gds=hash", "UCX_MEM_MMAP_HOOK_MODE=none"}));
}

TEST(OpenMpiEnvironment, TheLauncherOfOpenMpi5KeepsEpoll) {
  const auto has_event_settings = [](const char* version) {
    const std::vector<Setting> settings = agent_settings("agent", version);
    return std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
      return std::string_view(setting.name).starts_with("EVENT_");
    });
  };
  EXPECT_TRUE(has_event_settings(kOpenMpi4));
  EXPECT_TRUE(has_event_settings("mpirun.openmpi (OpenRTE) 4.1.4\n"));
  EXPECT_FALSE(has_event_settings("mpirun (Open MPI) 5.0.7\n"));
  EXPECT_FALSE(has_event_settings("prterun (PRRTE) 3.0.7\n"));
}

TEST(OpenMpiEnvironment, WhatOnlyTheLauncherNeedsIsNoTasks) {
  const Strings settings = {"PMIX_MCA_gds=hash", "UCX_MEM_MMAP_HOOK_MODE=none"};
  Strings environment = settings, wished = settings;
  for (const Setting& setting : agent_settings("agent", kOpenMpi4))
    if (std::string_view(setting.name).starts_with("EVENT_"))
      environment.push_back(setting.name + ("=" + setting.value));
  ASSERT_EQ(environment.size(), 3u);
  task::add_upper_settings(environment);
  EXPECT_EQ(environment, settings);
  wished.push_back("EVENT_NOEPOLL=1");  // the user's own
  task::add_upper_settings(wished);
  EXPECT_EQ(wished.back(), "EVENT_NOEPOLL=1");
}

TEST(OpenMpiEnvironment, GivesATaskNoComponentsInAJobOfSeveralNodesUnlessTold) {
  Strings environment = {"NAGAYA_MPI=local", "OMPI_COMM_WORLD_SIZE=4",
                         "OMPI_COMM_WORLD_LOCAL_SIZE=2"};
  task::add_upper_settings(environment);
  EXPECT_EQ(environment.size(), 5u);
  environment = {"NAGAYA_MPI=yes"};
  EXPECT_THROW(task::add_upper_settings(environment), base::Error);
}

}  // namespace
}  // namespace nagaya::openmpi
