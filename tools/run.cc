// SPDX-License-Identifier: BSD-3-Clause
// run.cc - `nagaya run`: starts a job. The launcher is that of the program's own MPI; a program
// without MPI is started by `nagaya run` itself, or on other hosts by any installed launcher.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/plain_path.h"
#include "command.h"
#include "faces/openmpi/environment.h"
#include "native_job.h"
#include "subcommands.h"
#include "task/load/program.h"
#include "task_environment.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

std::string own_path() {
  return std::filesystem::canonical("/proc/self/exe");
}

void set(const std::vector<openmpi::Setting>& settings) {
  for (const openmpi::Setting& setting : settings)
    ::setenv(setting.name, setting.value.c_str(), setting.is_forced ? 1 : 0);
}

// Returns the arguments that make a launcher start more processes than there are processors, and
// end a job when one of its processes has failed.
std::vector<std::string> manners(LauncherKind kind) {
  if (kind == LauncherKind::kSlurm) return {"--overcommit", "--kill-on-bad-exit=1"};
  if (kind == LauncherKind::kOpenMpi) set(openmpi::oversubscribing_settings());
  return {};
}

// Returns true if the job may use other nodes: there MPI_Comm_spawn starts processes that messages
// through this node's space do not reach. (On this node all processes are tasks; under a user's own
// mpirun only those are that have `nagaya exec` before their program.)
bool may_use_other_nodes(const RunOptions& options) {
  const char* const nodes = std::getenv("SLURM_JOB_NUM_NODES");
  return options.names_hosts() || (nodes != nullptr && std::strcmp(nodes, "1") != 0);
}

// Returns this command's path as the agent of Open MPI's launcher, which splits it at blanks.
std::string agent_path(const RunOptions& options) {
  if (may_use_other_nodes(options) && !base::is_plain(own_path()))
    throw base::Error(-EINVAL,
                      own_path() +
                          ": Open MPI's launcher cannot start a command with blanks or "
                          "the like in its path on other hosts; install Nagaya in a folder "
                          "without");
  return base::PathLinks::own().plain_path(own_path());
}

// Replaces this process by the launcher, which starts `nagaya exec` in each process's stead.
int exec_launcher(const RunOptions& options, const Launcher& launcher) {
  const LauncherKind kind = launcher.kind;
  std::vector<std::string> words{launcher.path, "-n", std::to_string(options.count)};
  const auto add = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add(manners(kind));
  add(host_options(kind, options.hosts));
  require_known(kind, names_of(options.hosts));
  if (!options.separate && !may_use_other_nodes(options) && has_components(launcher))
    ::setenv("NAGAYA_MPI", "local", 0);
  // Our BLACS send Nagaya's messages in grids over several hosts.
  if (options.blacs && has_components(launcher)) ::setenv("NAGAYA_MPI", "on", 0);
  if (kind == LauncherKind::kOpenMpi && options.names_hosts())
    add(openmpi::export_arguments(task::own_environment()));
  add(options.launcher_arguments);
  if (!options.separate) {
    if (kind == LauncherKind::kOpenMpi)
      set(openmpi::agent_settings(agent_path(options) + " exec", launcher.version));
    else
      add({own_path(), "exec"});
  }
  add(options.command);
  base::PathLinks::own().pass_on(true);
  ::execv(words[0].c_str(), argv_of(words).data());
  base::throw_errno("cannot run " + launcher.path);
}

}  // namespace

int run_command(const RunOptions& options) {
  if (options.blacs) ::setenv("NAGAYA_BLACS", "on", 1);
  if (options.command.empty()) {
    complain("run: no program is named");
    return kExitOwnFailure;
  }
  if (options.names_hosts() && options.launcher == "none") {
    complain(std::string("run: ") + (options.hosts.list ? "--hosts" : "--hostfile") +
             " needs a launcher, which reaches the hosts: leave out --launcher none");
    return kExitOwnFailure;
  }
  std::string mpi;
  try {
    const std::vector<std::string> arguments(options.command.begin() + 1, options.command.end());
    const auto text =
        options.separate
            ? task::resolve_interpreter(options.command[0], arguments, task::own_environment())
            : task::resolve_program(options.command[0], arguments, environment_of_task());
    if (options.launcher != "none") mpi = mpi_of_program(text);
  } catch (const base::Error& error) {
    complain(error.what());
    return exit_code_of(error.code());
  }
  Launcher launcher;
  if (!mpi.empty())
    launcher = launcher_of_mpi(mpi);
  else if (options.names_hosts())
    launcher = launcher_among_hosts();
  if (launcher.kind != LauncherKind::kNone) return exec_launcher(options, launcher);
  if (!options.launcher_arguments.empty()) {
    complain("run: --launcher-arg: " + options.command[0] + " is started without an mpirun");
    return kExitOwnFailure;
  }
  return run_native({options.count, options.separate, options.command});
}

}  // namespace nagaya::tools
