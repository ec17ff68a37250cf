// SPDX-License-Identifier: BSD-3-Clause
// run.cc - `nagaya run`: starts a job. On one node it is the launcher itself (launch/); on other
// hosts the launcher is that of the program's MPI, or any installed one for a program without MPI.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/plain_path.h"
#include "command.h"
#include "faces/openmpi/environment.h"
#include "launch/launcher.h"
#include "launch/launcher_words.h"
#include "launch/rank_processes.h"
#include "proxy/job.h"
#include "proxy/lone_ranks.h"
#include "proxy/task_environment.h"
#include "subcommands.h"
#include "task/load/program.h"
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
  const bool separate = options.launch.separate;
  std::vector<std::string> words{launcher.path}, exports, wrapper;
  const auto add = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add(manners(kind));
  add(host_options(kind, options.hosts));
  require_known(kind, names_of(options.hosts));
  add(job_words(kind, options.launch));
  if (!separate && !may_use_other_nodes(options)) ::setenv("NAGAYA_MPI", "local", 0);
  // Our BLACS send Nagaya's messages in grids over several hosts.
  if (options.blacs && has_components(launcher)) ::setenv("NAGAYA_MPI", "on", 0);
  if (kind == LauncherKind::kOpenMpi && options.names_hosts())
    exports = openmpi::export_arguments(task::own_environment());
  add(options.launcher_arguments);
  if (!separate && kind == LauncherKind::kOpenMpi)
    set(openmpi::agent_settings(agent_path(options) + " exec", launcher.version));
  else if (!separate)
    wrapper = {own_path(), "exec"};
  add(program_words(kind, options.launch.applications, exports, wrapper));
  base::PathLinks::own().pass_on(true);
  ::execv(words[0].c_str(), argv_of(words).data());
  base::throw_errno("cannot run " + launcher.path);
}

// Returns the MPI that the program is linked with; nullopt: none. Throws CannotRun.
std::optional<MpiLibrary> mpi_of(const LaunchChoice& choice) try {
  const std::vector<std::string>& command = choice.applications[0].command;
  const std::vector<std::string> arguments(command.begin() + 1, command.end());
  return mpi_of_program(
      choice.separate ? task::resolve_interpreter(command[0], arguments, task::own_environment())
                      : task::resolve_program(command[0], arguments, environment_of_task()));
} catch (const base::Error& error) {
  throw CannotRun(error);
}

// Returns the launcher that starts the job; none: `nagaya run` does. Throws CannotRun, or Error.
Launcher launcher_of(const RunOptions& options) {
  const bool wants_mpi = options.launcher == "mpi";
  if (options.launcher == "none" || (!wants_mpi && !may_use_other_nodes(options))) return {};
  const std::optional<MpiLibrary> mpi = mpi_of(options.launch);
  if (mpi) return launcher_of_mpi(*mpi);
  if (wants_mpi)
    throw OptionError("run: --launcher mpi: " + options.launch.applications[0].command[0] +
                      " is not linked with an MPI; leave the option out");
  return options.names_hosts() ? launcher_among_hosts() : Launcher{};
}

// Returns the error with the command that names its cure, if this machine is too small for the job.
base::Error with_cure(const base::Error& error, const LaunchChoice& choice) {
  std::string text = error.what();
  if (text.find("nagaya doctor") != std::string::npos) return error;
  if (error.code() == -EMFILE) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    text = fmt::format("the limit of open files (ulimit -n) is {}", files.rlim_max);
  } else if (error.code() != -ENOMEM && error.code() != -EAGAIN) {
    return error;
  }
  return {error.code(), fmt::format("{} (`nagaya doctor -n {}` says what is missing)", text,
                                    ranks_of(choice.applications))};
}

bool is_set(const char* name, std::string_view wanted) {
  const char* const value = std::getenv(name);
  return value != nullptr && value == wanted;
}

// Says who carries the messages, as NAGAYA_MPI_VERBOSE wants, in place of the face, which is not
// loaded.
void tell_of_absent_face() {
  if (is_set("NAGAYA_MPI_VERBOSE", "1") && is_set("NAGAYA_MPI", "off"))
    complain("MPI_COMM_WORLD: by the MPI: NAGAYA_MPI=off");
}

int run_here(const RunOptions& options) try {
  if (!options.launcher_arguments.empty())
    throw OptionError("run: --launcher-arg: nagaya run starts this job itself; add --launcher mpi");
  if (!options.launch.separate) ::setenv("NAGAYA_MPI", "local", 0);
  tell_of_absent_face();
  return run_job(options.launch);
} catch (const CannotRun&) {
  throw;
} catch (const base::Error& error) {
  throw with_cure(error, options.launch);
} catch (const std::filesystem::filesystem_error& error) {
  throw with_cure({-error.code().value(), error.what()}, options.launch);
}

}  // namespace

int run_command(const RunOptions& options) try {
  tell_of_lone_job(job_of_environment());
  check(options.launch.applications);
  if (options.names_hosts() && options.launcher == "none")
    throw OptionError(std::string("run: ") + (options.hosts.list ? "--hosts" : "--hostfile") +
                      " needs a launcher, which reaches the hosts: leave out --launcher none");
  if (options.blacs) ::setenv("NAGAYA_BLACS", "on", 1);
  const Launcher launcher = launcher_of(options);
  return launcher.kind != LauncherKind::kNone ? exec_launcher(options, launcher)
                                              : run_here(options);
} catch (const CannotRun& error) {
  complain(error.what());
  return exit_code_of(error.code());
}

}  // namespace nagaya::tools
