// SPDX-License-Identifier: BSD-3-Clause
#include "faces/openmpi/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/plain_path.h"
#include "faces/mpi/environment.h"
#include "task/load/installation.h"
#include "task/load/program.h"
#include "task/load/upper_settings.h"

namespace nagaya::openmpi {
namespace {

using task::environment_value;

std::string value_in(const std::vector<std::string>& environment, const char* name) {
  const char* const value = environment_value(environment, name);
  return value != nullptr ? value : "";
}

// PMIx 5 maps its job data at an address that its server chose, the same in all tasks of a node: in
// one space the second task cannot. Without the components shmem, PMIx keeps a copy in each.
Setting pmix_without_shared_memory() {
  return {"PMIX_MCA_gds", "^shmem,shmem2", false};
}

// The server of PMIx closes the connection of a process that has ended, but removes its event
// later. Meanwhile libevent takes a new connection of the same descriptor for one that epoll
// watches already: a process that MPI_Comm_spawn has started waits for its answer for ever, in one
// of 100 jobs. (PMIx 4.2; mended in September 2026, openpmix 4279.) poll needs no registration.
// Tasks do not inherit the variable. libevent ignores its value.
Setting launcher_without_epoll() {
  return {"EVENT_NOEPOLL", "nagaya-launcher", false};
}

// UCX overwrites libc's mmap with its own, which enters the kernel directly: from then on all
// memory of the task, stacks of threads too, would lie outside of its partition and stay when it
// has ended. (Its other way, hooks by relocation, hangs in its malloc: UCX 1.13.)
Setting ucx_without_hooks() {
  return {"UCX_MEM_MMAP_HOOK_MODE", "none", false};
}

// Tells the processes that MPI_Comm_spawn starts that their parents use our components, so that
// they do, too. Open MPI passes variables on to them that look like its own.
constexpr const char* kParentUsesComponents = "OMPI_MCA_pml_nagaya_passed_on";

// Whether Open MPI has started all processes of the job on this node. Processes that MPI_Comm_spawn
// has started do as their parents (kParentUsesComponents).
bool is_job_of_one_node(const std::vector<std::string>& environment) {
  if (environment_value(environment, "OMPI_PARENT_PORT") != nullptr)
    return environment_value(environment, kParentUsesComponents) != nullptr;
  const char* const all = environment_value(environment, "OMPI_COMM_WORLD_SIZE");
  const char* const here = environment_value(environment, "OMPI_COMM_WORLD_LOCAL_SIZE");
  return all != nullptr && here != nullptr && std::strcmp(all, here) == 0;
}

// Puts our components before Open MPI's own in its search path if NAGAYA_MPI says so: then they
// carry its messages. By default they do not: under a launcher of its own, Open MPI starts the
// processes of MPI_Comm_spawn outside of the space, and the components do not reach them. Throws if
// NAGAYA_MPI is wrong.
void add_components(std::vector<std::string>& environment) {
  const mpi::Reach reach = mpi::reach_in(environment, mpi::Reach::kNone);
  if (reach == mpi::Reach::kNone) return;
  if (reach == mpi::Reach::kNode && !is_job_of_one_node(environment)) return;
  const std::vector<std::string> components = installed_components();
  if (components.empty()) return;
  if (environment_value(environment, kParentUsesComponents) == nullptr)
    environment.push_back(std::string(kParentUsesComponents) + "=1");
  const std::string name = "OMPI_MCA_mca_base_component_path";
  const char* const own = environment_value(environment, name.c_str());
  const std::string others = own != nullptr ? own : "SYSTEM_DEFAULT:USER_DEFAULT";
  std::error_code not_there;
  if (std::filesystem::equivalent(others.substr(0, others.find(':')), components[0], not_there))
    return;             // a task that starts tasks
  std::string folders;  // Open MPI splits them at colons
  for (const std::string& folder : components)
    folders += base::PathLinks::own().plain_path(folder) + ":";
  std::erase_if(environment,
                [&](const std::string& variable) { return variable.starts_with(name + "="); });
  environment.push_back(name + "=" + folders + others);
}

// The number that Open MPI gives a job of another launcher than its own: Bob Jenkins's
// one-at-a-time hash of the name space, without one bit.
uint32_t number_of_job(const std::string& job) {
  constexpr uint32_t kLocalBit = 0x8000;
  uint32_t hash = 0;
  for (const unsigned char letter : job) {
    hash += letter;
    hash += hash << 10;
    hash ^= hash >> 6;
  }
  hash += hash << 3;
  hash ^= hash >> 11;
  hash += hash << 15;
  return hash & ~kLocalBit;
}

}  // namespace

std::vector<std::string> segments_of(const std::string& job) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  char rest[64];
  std::snprintf(rest, sizeof rest, ".%u.%x.", ::geteuid(), number_of_job(job));
  return {"vader_segment." + std::string(host) + rest, "sm_segment." + std::string(host) + rest};
}

std::vector<std::string> installed_components() {
  std::vector<std::string> folders;
  if (const std::string all = task::installed_folder("lib/nagaya"); !all.empty())
    for (const auto& entry : std::filesystem::directory_iterator(all))
      folders.push_back(entry.path());
  return folders;
}

bool has_components_for(const std::string& release) {
  const std::vector<std::string> folders = installed_components();
  return std::any_of(folders.begin(), folders.end(), [&](const std::filesystem::path folder) {
    return folder.filename() == "ompi-" + release;
  });
}

std::vector<Setting> oversubscribing_settings() {
  return {{"OMPI_MCA_rmaps_base_oversubscribe", "1", false},
          {"PRTE_MCA_rmaps_default_mapping_policy", "slot:oversubscribe", false}};
}

std::vector<Setting> agent_settings(const std::string& agent, const std::string& version) {
  std::vector<Setting> settings = {{"OMPI_MCA_orte_fork_agent", agent, true},
                                   {"PRTE_MCA_odls_base_exec_agent", agent, true},
                                   // Set in the ranks, too: the server of PMIx 5.0 crashes in
                                   // an MPI_Comm_spawn when only they do without shared memory.
                                   pmix_without_shared_memory()};
  // Not for Open MPI 5, whose ordinary processes do not start if they inherit EVENT_NOEPOLL.
  // `version` is "mpirun (Open MPI) 4.1.4"; by another name "(OpenRTE) 4.1.4".
  if (version.find("(Open MPI) 4.") != std::string::npos ||
      version.find("(OpenRTE) 4.") != std::string::npos)
    settings.push_back(launcher_without_epoll());
  return settings;
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
  return environment_value(environment, "OMPI_COMM_WORLD_RANK") != nullptr;
}

}  // namespace nagaya::openmpi

void nagaya::task::add_upper_settings(std::vector<std::string>& environment) {
  const openmpi::Setting launchers = openmpi::launcher_without_epoll();
  std::erase(environment, launchers.name + ("=" + launchers.value));
  openmpi::add_components(environment);
  for (const openmpi::Setting& setting :
       {openmpi::pmix_without_shared_memory(), openmpi::ucx_without_hooks()})
    if (environment_value(environment, setting.name) == nullptr)
      environment.push_back(setting.name + ("=" + setting.value));
}
