// SPDX-License-Identifier: BSD-3-Clause
// limits.cc - checks the limits of numbers: of mappings, processes, descriptors.
#include <dirent.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <memory>
#include <sstream>

#include "doctor/doctor.h"

namespace nagaya::tools::doctor {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Compares the rest of `limit` after `used` with the needs of small programs and of Open MPI ranks.
Finding room_for_processes(const Need& need, const std::string& name, uint64_t limit, uint64_t used,
                           const std::string& remedy) {
  const uint64_t left = limit - std::min(limit, used);
  const std::string text = fmt::format("{} is {}, {} are in use", name, limit, used);
  if (left < need.processes())
    return {Level::kProblem,
            fmt::format("{}: {} tasks need {}", text, need.tasks, need.processes()), remedy};
  if (left < need.open_mpi_processes())
    return {
        Level::kWarning,
        fmt::format("{}: {} Open MPI ranks need {}", text, need.tasks, need.open_mpi_processes()),
        remedy};
  return {Level::kOk, text, ""};
}

// Returns the number of all threads of the machine: 80 in "0.20 0.18 0.12 1/80 11206".
uint64_t threads_of_machine() {
  const std::string line = first_line("/proc/loadavg").value_or("");
  std::istringstream rest(line.substr(std::min(line.size(), line.find('/') + 1)));
  uint64_t threads = 0;
  rest >> threads;
  return threads;
}

uint64_t threads_of_user() {
  uint64_t threads = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  while (const dirent* entry = folder == nullptr ? nullptr : ::readdir(folder.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const std::string process = std::string("/proc/") + entry->d_name;
    struct stat about;
    if (::stat(process.c_str(), &about) != 0 || about.st_uid != ::geteuid()) continue;
    threads += field_number(process + "/status", "Threads").value_or(0);
  }
  return threads;
}

// Returns the folder of this process's cgroup that counts processes: of version 2, else of the
// controller pids.
std::string pids_cgroup() {
  std::ifstream file("/proc/self/cgroup");
  std::string folder;
  for (std::string line; std::getline(file, line);) {
    const size_t path = line.find(':', line.find(':') + 1) + 1;
    if (line.starts_with("0::") && folder.empty()) folder = "/sys/fs/cgroup" + line.substr(path);
    if (line.find(":pids:") != std::string::npos)
      folder = "/sys/fs/cgroup/pids" + line.substr(path);
  }
  return folder;
}

}  // namespace

Finding mappings(const Need& need) {
  const uint64_t limit = first_number("/proc/sys/vm/max_map_count").value_or(65530);
  const std::string text = fmt::format("vm.max_map_count is {}", limit);
  const std::string remedy =
      sysctl_command("vm.max_map_count", rounded_up(need.open_mpi_mappings()));
  if (limit < need.small_mappings())
    return {
        Level::kProblem,
        fmt::format("{}: {} small tasks need about {}", text, need.tasks, need.small_mappings()),
        remedy};
  if (limit < need.open_mpi_mappings())
    return {Level::kWarning,
            fmt::format("{}: enough for {} small tasks, but as many Open MPI ranks need about {}",
                        text, need.tasks, need.open_mpi_mappings()),
            remedy};
  return {Level::kOk,
          fmt::format("{}: {} small tasks need about {}, as many Open MPI ranks {}", text,
                      need.tasks, need.small_mappings(), need.open_mpi_mappings()),
          ""};
}

Finding threads_max(const Need& need) {
  const auto limit = first_number("/proc/sys/kernel/threads-max");
  if (!limit) return {Level::kWarning, "kernel.threads-max cannot be read", ""};
  return room_for_processes(
      need, "kernel.threads-max", *limit, threads_of_machine(),
      sysctl_command("kernel.threads-max", rounded_up(*limit + need.open_mpi_processes())));
}

Finding pid_max(const Need& need) {
  const auto limit = first_number("/proc/sys/kernel/pid_max");
  if (!limit) return {Level::kWarning, "kernel.pid_max cannot be read", ""};
  return room_for_processes(
      need, "kernel.pid_max", *limit, threads_of_machine(),
      sysctl_command("kernel.pid_max", rounded_up(*limit + need.open_mpi_processes())));
}

Finding user_processes(const Need& need) {
  const auto limit = soft_limit(RLIMIT_NPROC);
  if (!limit) return {Level::kOk, "no limit of processes per user", ""};
  if (::geteuid() == 0) return {Level::kOk, "the limit of processes does not bind root", ""};
  const uint64_t used = threads_of_user();
  const uint64_t wanted = used + need.open_mpi_processes();
  const auto hard = hard_limit(RLIMIT_NPROC);
  const std::string command =
      !hard || *hard >= wanted
          ? fmt::format("ulimit -u {}", hard ? *hard : rounded_up(wanted))
          : fmt::format("sudo prlimit --nproc={0}:{0} --pid $$", rounded_up(wanted));
  return room_for_processes(need, "the limit of processes (ulimit -u)", *limit, used, command);
}

Finding cgroup_processes(const Need& need) {
  const std::string folder = pids_cgroup();
  const auto limit = first_number(folder + "/pids.max");
  if (!limit) return {Level::kOk, "no limit of processes in this control group", ""};
  return room_for_processes(need, "pids.max of this control group", *limit,
                            first_number(folder + "/pids.current").value_or(0),
                            "ask for a job step or container with a higher limit of processes");
}

// The host needs one descriptor per proxy; mpirun needs those of three pipes per rank, and some
// more.
Finding descriptors(const Need& need) {
  const auto soft = soft_limit(RLIMIT_NOFILE), hard = hard_limit(RLIMIT_NOFILE);
  const uint64_t of_host = need.tasks + 24, of_mpirun = 4 * need.tasks + 64;
  const std::string raise = fmt::format("ulimit -n {}", rounded_up(of_mpirun));
  const std::string raise_hard =
      fmt::format("sudo prlimit --nofile={0}:{0} --pid $$", rounded_up(of_mpirun));
  if (hard && *hard < of_host)
    return {Level::kProblem,
            fmt::format("at most {} open files: the host of {} launched tasks needs {}", *hard,
                        need.tasks, of_host),
            raise_hard};
  if (soft && *soft < of_mpirun)
    return {Level::kWarning,
            fmt::format("at most {} open files: mpirun needs about {} for {} ranks", *soft,
                        of_mpirun, need.tasks),
            hard && *hard < of_mpirun ? raise_hard : raise};
  return {Level::kOk, soft ? fmt::format("up to {} open files", *soft) : "no limit of open files",
          ""};
}

Finding stack(const Need&) {
  const auto limit = soft_limit(RLIMIT_STACK);
  if (!limit)
    return {Level::kOk, "unlimited: a task gets 16 GiB of addresses, at most half its range", ""};
  if (*limit < kMiB)
    return {Level::kWarning,
            fmt::format("only {} KiB for stack, arguments and environment", *limit >> 10),
            "ulimit -s 8192"};
  return {Level::kOk, fmt::format("{} MiB", *limit / kMiB), ""};
}

// All tasks lock memory of one address space: the limit of each counts the memory that all have
// locked.
Finding locked_memory(const Need& need) {
  const auto limit = soft_limit(RLIMIT_MEMLOCK);
  if (!limit) return {Level::kOk, "no limit of locked memory", ""};
  if (::geteuid() == 0) return {Level::kOk, "the limit of locked memory does not bind root", ""};
  return {
      Level::kOk,
      fmt::format("{} KiB, for all {} tasks together; programs that lock memory (mlock) may need "
                  "ulimit -l {}",
                  *limit >> 10, need.tasks, need.tasks * (*limit >> 10)),
      ""};
}

}  // namespace nagaya::tools::doctor
