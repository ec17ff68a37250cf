// SPDX-License-Identifier: BSD-3-Clause
#include "launch/rank_environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace nagaya::tools {
namespace {

using Strings = std::vector<std::string>;

// The kernel refuses to execute a program with a longer variable.
constexpr size_t kMostArgumentBytes = 100000;

// MPICH, Intel MPI and MVAPICH: as hydra sets them.
void add_pmi1(Strings& variables, const ParallelJob& job, uint32_t rank) {
  variables.push_back(fmt::format("PMI_RANK={}", rank));
  variables.push_back(fmt::format("PMI_SIZE={}", job.size()));
  variables.push_back(fmt::format("PMI_SPAWNED={}", job.id == 0 ? 0 : 1));
  variables.push_back(fmt::format("MPI_LOCALRANKID={}", rank));
  variables.push_back(fmt::format("MPI_LOCALNRANKS={}", job.size()));
  // MPICH 5 ends with an error when it finds both PMI-1 and PMIx, and no choice.
  variables.push_back("MPIR_CVAR_PMI_VERSION=1");
}

// As Open MPI's mpirun sets them, for programs and scripts.
void add_world(Strings& variables, const ParallelJob& job, uint32_t rank) {
  variables.push_back(fmt::format("OMPI_COMM_WORLD_RANK={}", rank));
  variables.push_back(fmt::format("OMPI_COMM_WORLD_SIZE={}", job.size()));
  variables.push_back(fmt::format("OMPI_COMM_WORLD_LOCAL_RANK={}", rank));
  variables.push_back(fmt::format("OMPI_COMM_WORLD_LOCAL_SIZE={}", job.size()));
  variables.push_back(fmt::format("OMPI_COMM_WORLD_NODE_RANK={}", rank));
  variables.push_back(fmt::format("OMPI_UNIVERSE_SIZE={}", job.universe_size));
}

// Adds the values that Open MPI 4 puts into MPI_INFO_ENV; Open MPI 5 asks the server of PMIx.
void add_info(Strings& variables, const ParallelJob& job, const Application& application) {
  Strings sizes, first_ranks;
  uint32_t first_rank = 0;
  for (const Application& each : job.applications) {
    sizes.push_back(std::to_string(each.count));
    first_ranks.push_back(std::to_string(first_rank));
    first_rank += each.count;
  }
  variables.push_back(fmt::format("OMPI_NUM_APP_CTX={}", job.applications.size()));
  variables.push_back(fmt::format("OMPI_APP_CTX_NUM_PROCS={}", fmt::join(sizes, " ")));
  variables.push_back(fmt::format("OMPI_FIRST_RANKS={}", fmt::join(first_ranks, " ")));
  variables.push_back(fmt::format("OMPI_MCA_orte_ess_num_procs={}", job.size()));
  variables.push_back("OMPI_MCA_initial_wdir=" + (application.directory.empty()
                                                      ? std::filesystem::current_path().string()
                                                      : application.directory));
  variables.push_back("OMPI_COMMAND=" + application.command[0]);
  const Strings arguments(application.command.begin() + 1, application.command.end());
  const std::string argv = fmt::format("OMPI_ARGV={}", fmt::join(arguments, " "));
  variables.push_back(argv.size() <= kMostArgumentBytes ? argv : "OMPI_ARGV=");
}

// Adds what Open MPI 4 must know of its launcher, beside the server of PMIx.
void add_openmpi4(Strings& variables, const ParallelJob& job) {
  // Without a launcher that it knows, each rank would be a job of its own. It knows jsrun by this
  // variable alone. As a rank of jsrun it neither looks for a daemon of mpirun nor binds itself,
  // and prints its messages; an mpirun that the rank starts ignores the variable.
  variables.push_back("JSM_JSRUN_PORT=0");
  // Also for a rank that is not bound: else it would read the machine's topology, which takes 10 ms
  // and 0.5 MiB, to find out.
  variables.push_back("OMPI_MCA_orte_bound_at_launch=1");
  // Whether waiting ranks yield. Open MPI 5 asks the server of PMIx.
  variables.push_back(fmt::format("OMPI_MCA_mpi_oversubscribe={}", job.is_oversubscribed ? 1 : 0));
}

}  // namespace

Strings environment_of_rank(const ParallelJob& job, uint32_t rank) {
  Strings variables;
  add_pmi1(variables, job, rank);
  add_world(variables, job, rank);
  add_info(variables, job, job.applications[job.application_of(rank)]);
  add_openmpi4(variables, job);
  return variables;
}

bool is_of_outer_launcher(const std::string& variable) {
  constexpr std::array<std::string_view, 4> kNames = {"OMPI_PARENT_PORT", "OMPI_MCA_orte_launch",
                                                      "OMPI_MCA_orte_local_daemon_uri",
                                                      "OMPI_MCA_orte_hnp_uri"};
  const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace nagaya::tools
