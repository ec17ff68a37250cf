// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/job.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "base/random.h"
#include "faces/openmpi/environment.h"
#include "task/load/program.h"

namespace nagaya::tools {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

int64_t number(const char* name) {
  return std::atoll(variable(name).c_str());
}

// Returns the parent's pid and start time [clock ticks after boot]: no later process has both.
std::string identity_of_parent() {
  const std::string parent = std::to_string(::getppid());
  std::ifstream file("/proc/" + parent + "/stat");
  std::string line;  // stays empty, without an exception, if the process ends meanwhile
  std::getline(file, line);
  const size_t after_name = line.rfind(") ");
  std::istringstream fields(after_name == std::string::npos ? "" : line.substr(after_name + 2));
  std::string start_time;
  for (int field = 3; field <= 22 && fields >> start_time; ++field) continue;
  return parent + "." + start_time;
}

std::string host_name() {
  utsname names;
  return ::uname(&names) == 0 ? names.nodename : "";
}

// Derives the job's key and socket name from a text that only the processes of one job have in
// common, and from the host's name, because all hosts may share the folder of the sockets. If other
// processes can guess the text, they are of the same user, and these are no strangers: the socket
// admits no other user.
void derive(const std::string& kind, const std::string& common, task::Job& job) {
  const std::string secret = common + " " + host_name();
  for (size_t half = 0; half < 2; ++half) {
    const size_t word = std::hash<std::string>{}("key" + std::to_string(half) + kind + secret);
    for (size_t n = 0; n < sizeof word; ++n)
      job.key[half * sizeof word + n] = static_cast<uint8_t>(word >> 8 * n);
  }
  job.name = kind + "-" + std::to_string(std::hash<std::string>{}(secret)&0xffffffffffff);
}

LaunchedJob launched_by(const std::string& kind, const std::string& secret,
                        const std::string& group, int64_t tasks, int64_t local_rank) {
  LaunchedJob found;
  derive(kind, secret, found.job);
  found.job.group = group;
  found.job.group_tasks = static_cast<uint32_t>(std::max<int64_t>(tasks, 0));
  found.job.launcher_pid = ::getppid();
  found.local_rank = local_rank;
  found.signals_groups = true;
  return found;
}

// Finds the job of Open MPI's mpirun or prterun, with all jobs that it spawns (MPI_Comm_spawn).
std::optional<LaunchedJob> by_open_mpi() {
  const std::optional<openmpi::Rank> rank = openmpi::rank_of(task::own_environment());
  if (!rank) return std::nullopt;
  LaunchedJob found =
      launched_by("ompi", rank->random.empty() ? identity_of_parent() : rank->random, rank->job,
                  rank->local_size, rank->local_rank);
  found.launcher = LauncherKind::kOpenMpi;
  found.ranks = number("OMPI_COMM_WORLD_SIZE");
  return found;
}

// Finds the job of MPICH's hydra: one hydra_pmi_proxy per node and mpiexec is the parent of all
// ranks.
std::optional<LaunchedJob> by_hydra() {
  if (variable("MPI_LOCALNRANKS").empty() || variable("PMI_RANK").empty()) return std::nullopt;
  const std::string parent = identity_of_parent();
  LaunchedJob found = launched_by("hydra", parent, "hydra " + parent, number("MPI_LOCALNRANKS"),
                                  number("MPI_LOCALRANKID"));
  found.launcher = LauncherKind::kMpich;
  found.ranks = number("PMI_SIZE");
  return found;
}

// Finds the job of Slurm's srun, with any of its MPI plugins. (A batch script has no step id.)
std::optional<LaunchedJob> by_slurm() {
  const std::string job = variable("SLURM_JOB_ID"), step = variable("SLURM_STEP_ID");
  if (job.empty() || step.empty() || variable("SLURM_LOCALID").empty()) return std::nullopt;
  const std::string name = job + "." + step;
  LaunchedJob found =
      launched_by("slurm", variable("SLURM_CLUSTER_NAME") + " " + name, "slurm " + name,
                  slurm_tasks_on_node(variable("SLURM_STEP_TASKS_PER_NODE"),
                                      static_cast<unsigned>(number("SLURM_NODEID"))),
                  number("SLURM_LOCALID"));
  found.launcher = LauncherKind::kSlurm;
  found.ranks = number("SLURM_STEP_NUM_TASKS");
  found.signals_groups = false;  // slurmstepd signals its tasks one by one, not their groups
  return found;
}

LaunchedJob by_nobody() {
  LaunchedJob found;
  base::fill_random(found.job.key);
  found.job.name = "one-" + base::random_digits();
  found.job.group = found.job.name;
  found.job.group_tasks = 1;
  found.job.launcher_pid = ::getpid();
  return found;
}

}  // namespace

LaunchedJob job_of_environment() {
  // An mpirun or mpiexec inside a Slurm allocation sets its own variables, and Slurm's remain.
  for (const auto& launcher : {by_open_mpi, by_hydra, by_slurm})
    if (auto found = launcher()) return *found;
  return by_nobody();
}

std::string host_of_run() {
  const std::string name = variable("PMIX_NAMESPACE");
  const bool is_own = variable("PMI_FD") == std::to_string(kPmi1Descriptor) &&
                      (name.empty() || name.starts_with(kNamesOfRun));
  return is_own ? variable(kHostOfRun) : "";
}

uint32_t slurm_tasks_on_node(const std::string& text, unsigned node) {
  std::istringstream groups(text);
  std::string group;
  while (std::getline(groups, group, ',')) {
    unsigned tasks = 0, nodes = 1;
    if (std::sscanf(group.c_str(), "%u(x%u)", &tasks, &nodes) < 1) return 0;
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return 0;
}

}  // namespace nagaya::tools
