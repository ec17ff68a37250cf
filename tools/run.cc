// SPDX-License-Identifier: BSD-3-Clause
// run.cc - `nagaya run`: starts a job on this node, through the program's own MPI if it has one.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "mpi_program.h"
#include "native_job.h"
#include "task/program.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

struct RunOptions {
  int count = 1;
  bool separate = false;
  std::string launcher = "auto";
  std::vector<std::string> launcher_arguments;
  std::vector<std::string> command;
};

std::string own_path() {
  return std::filesystem::canonical("/proc/self/exe");
}

// Replaces this process by the MPI's mpirun, which starts `nagaya exec` in each rank's stead.
int exec_mpirun(const RunOptions& options, const MpiProgram& mpi) {
  std::vector<std::string> words{mpi.launcher, "-n", std::to_string(options.count)};
  if (mpi.kind == MpiKind::kOpenMpi) words.push_back("--oversubscribe");
  words.insert(words.end(), options.launcher_arguments.begin(), options.launcher_arguments.end());
  if (!options.separate && mpi.kind == MpiKind::kOpenMpi) {
    // The fork agent wraps the children of MPI_Comm_spawn too.
    const std::string agent = own_path() + " exec";
    ::setenv("OMPI_MCA_orte_fork_agent", agent.c_str(), 1);
    ::setenv("PRTE_MCA_odls_base_exec_agent", agent.c_str(), 1);
    // As in its ranks (program.cc): the server of PMIx 5.0 crashes in an MPI_Comm_spawn when only
    // they do without its shared memory.
    ::setenv("PMIX_MCA_gds", "^shmem,shmem2", 0);
  } else if (!options.separate) {
    words.insert(words.end(), {own_path(), "exec"});
  }
  words.insert(words.end(), options.command.begin(), options.command.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  base::throw_errno("cannot run " + mpi.launcher);
}

int run(const RunOptions& options) {
  if (options.command.empty()) {
    complain("run: no program is named");
    return kExitOwnFailure;
  }
  MpiProgram mpi;
  try {
    const std::vector<std::string> arguments(options.command.begin() + 1, options.command.end());
    const auto environment = task::own_environment();
    const auto resolve = options.separate ? task::resolve_interpreter : task::resolve_program;
    const auto text = resolve(options.command[0], arguments, environment);
    if (options.launcher != "none") mpi = find_mpi(text);
  } catch (const base::Error& error) {
    complain(error.what());
    return exit_code_of(error.code());
  }
  if (mpi.kind != MpiKind::kNone) return exec_mpirun(options, mpi);
  return run_native({options.count, options.separate, true, options.command});
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* run_command =
      app.add_subcommand("run", "Run a parallel job on this node, its processes in one space");
  auto options = std::make_shared<RunOptions>();
  run_command->add_option("-n,--np", options->count, "How many tasks")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  run_command->add_flag("--separate", options->separate,
                        "Run ordinary processes instead of tasks, to compare and to bisect");
  run_command
      ->add_option("--launcher", options->launcher,
                   "auto: the mpirun of the program's MPI if it uses one; none: never an mpirun")
      ->check(CLI::IsMember({"auto", "none"}))
      ->capture_default_str();
  run_command
      ->add_option("--launcher-arg", options->launcher_arguments,
                   "An argument for that mpirun; may be given several times")
      ->allow_extra_args(false);
  add_command(*run_command, options->command);
  run_command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nagaya::tools
