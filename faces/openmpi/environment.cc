// SPDX-License-Identifier: BSD-3-Clause
#include "faces/openmpi/environment.h"

#include <cstdlib>

#include "task/program.h"

namespace nagaya::openmpi {
namespace {

std::string value_in(const std::vector<std::string>& environment, const char* name) {
  const char* const value = task::environment_value(environment, name);
  return value != nullptr ? value : "";
}

}  // namespace

std::vector<Setting> oversubscribing_settings() {
  return {{"OMPI_MCA_rmaps_base_oversubscribe", "1", false},
          {"PRTE_MCA_rmaps_default_mapping_policy", "slot:oversubscribe", false}};
}

std::vector<Setting> agent_settings(const std::string& agent) {
  return {{"OMPI_MCA_orte_fork_agent", agent, true},
          {"PRTE_MCA_odls_base_exec_agent", agent, true},
          // As in its ranks (task/program.cc): the server of PMIx 5.0 crashes in an MPI_Comm_spawn
          // when only they do without its shared memory.
          {"PMIX_MCA_gds", "^shmem,shmem2", false}};
}

std::vector<std::string> export_arguments(const std::vector<std::string>& environment) {
  std::vector<std::string> words;
  for (const std::string& variable : environment)
    if (variable.starts_with("NAGAYA_") || variable.starts_with("FI_"))
      words.insert(words.end(), {"-x", variable.substr(0, variable.find('='))});
  return words;
}

std::optional<Rank> rank_of(const std::vector<std::string>& environment) {
  const std::string job = value_in(environment, "PMIX_NAMESPACE");
  const std::string size = value_in(environment, "OMPI_COMM_WORLD_LOCAL_SIZE");
  if (job.empty() || size.empty()) return std::nullopt;
  return Rank{job, value_in(environment, "OMPI_MCA_orte_precondition_transports"),
              std::atoll(size.c_str()),
              std::atoll(value_in(environment, "OMPI_COMM_WORLD_LOCAL_RANK").c_str())};
}

bool is_rank(const std::vector<std::string>& environment) {
  return task::environment_value(environment, "OMPI_COMM_WORLD_RANK") != nullptr;
}

}  // namespace nagaya::openmpi
