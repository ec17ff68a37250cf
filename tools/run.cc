// SPDX-License-Identifier: BSD-3-Clause
// run.cc - `nagaya run`: starts a job, through the program's own MPI if it has one, on other hosts
// through whichever launcher is installed.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/plain_path.h"
#include "faces/openmpi/environment.h"
#include "mpi_program.h"
#include "native_job.h"
#include "task/program.h"
#include "task_environment.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

constexpr char kExamples[] = R"(Examples:
  nagaya run -n 4 lmp -in melt.in               an MPI program, through its own mpirun
  nagaya run -n 4 python3 program.py            Python, with or without mpi4py
  nagaya run -n 4 ./native_program              no MPI, and no mpirun
  nagaya run -n 4 --separate lmp -in melt.in    ordinary processes: does a fault stay?
  nagaya run -n 6 --hosts a:2,b:4 ./program     on two hosts
  nagaya run -n 2 --launcher-arg=--bind-to --launcher-arg=none ./mpi_program)";

struct RunOptions {
  int count = 1;
  bool separate = false;
  bool blacs = false;
  std::string launcher = "auto";
  HostChoice hosts;
  std::vector<std::string> launcher_arguments;
  std::vector<std::string> command;

  bool names_hosts() const { return hosts.list || hosts.file; }
};

std::string own_path() {
  return std::filesystem::canonical("/proc/self/exe");
}

void set(const std::vector<openmpi::Setting>& settings) {
  for (const openmpi::Setting& setting : settings)
    ::setenv(setting.name, setting.value.c_str(), setting.is_forced ? 1 : 0);
}

// Lets each launcher start more processes than there are processors, and end a job of which one has
// failed. Returns its arguments for that.
std::vector<std::string> manners(LauncherKind kind) {
  if (kind == LauncherKind::kSlurm) return {"--overcommit", "--kill-on-bad-exit=1"};
  if (kind == LauncherKind::kOpenMpi) set(openmpi::oversubscribing_settings());
  return {};
}

// MPI_Comm_spawn then starts processes there that messages through this node's space do not reach.
// (On this node all of them are tasks; behind a user's own mpirun only those are that he puts
// `nagaya exec` before.)
bool may_use_other_nodes(const RunOptions& options) {
  const char* const nodes = std::getenv("SLURM_JOB_NUM_NODES");
  return options.names_hosts() || (nodes != nullptr && std::strcmp(nodes, "1") != 0);
}

// This command, as the agent of Open MPI's launcher, which splits the agent at blanks.
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
  // Grids over several hosts send messages of Nagaya's.
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

int run(const RunOptions& options) {
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

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* run_command =
      app.add_subcommand("run", "Run a parallel job, its processes on each node in one space");
  auto options = std::make_shared<RunOptions>();
  run_command->add_option("-n,--np", options->count, "How many tasks, 1 to 4096 (default: 1)")
      ->check(CLI::Range(1, 4096))
      ->option_text("COUNT");
  run_command->add_flag("--separate", options->separate,
                        "Run ordinary processes instead of tasks, to compare and to bisect");
  run_command
      ->add_flag("--blacs", options->blacs,
                 "Replace the BLACS of the program's ScaLAPACK by Nagaya's")
      ->excludes("--separate");
  run_command
      ->add_option(
          "--launcher", options->launcher,
          "auto (default): the mpirun of the program's MPI if it uses one; none: never one")
      ->check(CLI::IsMember({"auto", "none"}))
      ->option_text("auto|none");
  CLI::Option* list = run_command->add_option(
      "--hosts", options->hosts.list, "On which hosts: names, or names:slots, with commas between");
  CLI::Option* file = run_command->add_option(
      "--hostfile", options->hosts.file, "A file that names the hosts, as the launcher has it");
  list->excludes(file)->option_text("LIST");
  file->option_text("FILE");
  run_command
      ->add_option("--launcher-arg", options->launcher_arguments,
                   "An argument for that mpirun; may be given several times")
      ->allow_extra_args(false)
      ->option_text("ARGUMENT");
  add_help(*run_command, "PROGRAM [ARGUMENT...]", kExamples);
  add_command(*run_command, options->command);
  run_command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nagaya::tools
