// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpi_program.h"

#include <fmt/ranges.h>
#include <netdb.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/installed_tree.h"
#include "command.h"
#include "faces/openmpi/environment.h"
#include "task/load/program.h"

namespace nagaya::tools {
namespace {

namespace fs = std::filesystem;

std::string version_of(const std::string& path) {
  if (::access(path.c_str(), X_OK) != 0) return "";
  return output_of({path, "--version"});
}

bool is_of(LauncherKind kind, const std::string& version) {
  if (kind == LauncherKind::kOpenMpi)
    return version.find("Open MPI") != std::string::npos ||
           version.find("OpenRTE") != std::string::npos ||
           version.find("PRTE") != std::string::npos;
  return version.find("HYDRA") != std::string::npos ||
         version.find("Intel(R) MPI Library") != std::string::npos;
}

// Returns the possible names of an MPI's mpirun: Debian gives each MPI's mpirun a name of its own.
std::vector<std::string> names_of_mpirun(LauncherKind kind) {
  if (kind == LauncherKind::kOpenMpi) return {"mpirun.openmpi", "mpirun", "mpiexec"};
  return {"mpirun.mpich", "mpirun", "mpiexec", "mpiexec.hydra"};
}

std::string in_path(const std::string& name) {
  try {
    return task::find_program(name, task::own_environment());
  } catch (const base::Error&) {
    return "";
  }
}

// Searches an mpirun in the bin folder of the library's installation (an MPI that the user has
// installed), then in PATH.
Launcher find_mpirun(LauncherKind kind, const std::string& library) {
  std::vector<std::string> candidates;
  const std::vector<std::string> names = names_of_mpirun(kind);
  if (!library.empty()) {
    // The stars: x86_64-linux-gnu (Debian), release (Intel MPI).
    const base::InstalledTree tree(fs::canonical(library), {"lib", "lib64", "lib/*", "lib64/*"});
    for (const std::string& name : names) candidates.push_back(tree.find("bin/" + name));
  }
  for (const std::string& name : names) candidates.push_back(in_path(name));
  for (const std::string& candidate : candidates)
    if (const std::string version = version_of(candidate); is_of(kind, version))
      return {kind, candidate, version};
  return {};
}

std::vector<std::string> names_in_list(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream items(list + ",");
  for (std::string item; std::getline(items, item, ',');) {
    names.push_back(item.substr(0, item.find(':')));
    if (names.back().empty())
      throw base::Error(-EINVAL, "--hosts: \"" + list + "\" has an empty name");
  }
  return names;
}

std::vector<std::string> names_in_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) base::throw_errno("--hostfile: " + path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    if (std::string word; words >> word) names.push_back(word.substr(0, word.find(':')));
  }
  if (names.empty()) throw base::Error(-EINVAL, "--hostfile: " + path + " names no host");
  return names;
}

void require_address(const std::string& name) {
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(name.c_str(), nullptr, nullptr, &found); error != 0)
    throw base::Error(-EHOSTUNREACH, name + ": " + ::gai_strerror(error));
  ::freeaddrinfo(found);
}

void require_in_allocation(const std::string& name) {
  const char* const list = std::getenv("SLURM_JOB_NODELIST");
  std::istringstream nodes(
      output_of({"scontrol", "show", "hostnames", list != nullptr ? list : ""}));
  const std::set<std::string> known{std::istream_iterator<std::string>(nodes), {}};
  if (!known.contains(name))
    throw base::Error(-EHOSTUNREACH, name + ": not a node of this Slurm allocation");
}

}  // namespace

Launcher launcher_of_mpi(const MpiLibrary& library) {
  const LauncherKind kind = library.is_open_mpi ? LauncherKind::kOpenMpi : LauncherKind::kMpich;
  Launcher launcher = find_mpirun(kind, library.path);
  if (launcher.kind == LauncherKind::kNone)
    throw base::Error(-ENOENT, "the program uses " + library.path +
                                   ", but its mpirun is not found: install it or put it into PATH");
  return launcher;
}

bool has_components(const Launcher& launcher) {
  if (launcher.kind != LauncherKind::kOpenMpi) return false;
  std::istringstream words(launcher.version.substr(launcher.version.find(')') + 1));
  std::string release;  // "mpirun (Open MPI) 4.1.4"
  words >> release;
  return openmpi::has_components_for(release);
}

Launcher launcher_among_hosts() {
  if (std::getenv("SLURM_JOB_ID") != nullptr)
    if (const std::string srun = in_path("srun"); !srun.empty())
      return {LauncherKind::kSlurm, srun, ""};
  for (const LauncherKind kind : {LauncherKind::kOpenMpi, LauncherKind::kMpich})
    if (Launcher found = find_mpirun(kind, ""); found.kind != LauncherKind::kNone) return found;
  throw base::Error(-ENOENT,
                    "nothing here starts programs on other hosts: install Open MPI or MPICH");
}

std::vector<std::string> names_of(const HostChoice& hosts) {
  if (hosts.list) return names_in_list(*hosts.list);
  return hosts.file ? names_in_file(*hosts.file) : std::vector<std::string>{};
}

void require_known(LauncherKind kind, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (kind == LauncherKind::kMpich) require_address(name);
    if (kind == LauncherKind::kSlurm) require_in_allocation(name);
  }
}

std::vector<std::string> host_options(LauncherKind kind, const HostChoice& hosts) {
  if (!hosts.list && !hosts.file) return {};
  const std::string& said = hosts.list ? *hosts.list : *hosts.file;
  switch (kind) {
    case LauncherKind::kOpenMpi:
      return {hosts.list ? "--host" : "--hostfile", said};
    case LauncherKind::kMpich:
      return {hosts.list ? "-hosts" : "-f", said};
    case LauncherKind::kSlurm: {
      const std::vector<std::string> names = names_of(hosts);
      const std::set<std::string> nodes(names.begin(), names.end());
      // Without the number of nodes the step would use all nodes of the allocation.
      return {fmt::format("--nodelist={}", fmt::join(nodes, ",")),
              fmt::format("--nodes={}", nodes.size())};
    }
    case LauncherKind::kNone:
      break;
  }
  return {};
}

}  // namespace nagaya::tools
