// SPDX-License-Identifier: BSD-3-Clause
// execute.cc - `nagaya execute`: the process of a rank that has called execve. Starts the program
// as a task that stands for the same rank, and becomes the task's proxy; where that is not
// possible, executes it.
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "command.h"
#include "proxy/departure.h"
#include "proxy/job.h"
#include "proxy/lone_ranks.h"
#include "proxy/program_role.h"
#include "proxy/proxy.h"
#include "proxy/task_environment.h"
#include "subcommands.h"
#include "task/load/program.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

// The words of an execve.
struct Execution {
  std::string path;
  Words argv;

  Words arguments() const { return {argv.begin() + 1, argv.end()}; }
};

// Returns what the words of the command line ask for: the program behind `nagaya exec` in place of
// that.
Execution execution_of(const Words& words) {
  const Execution wanted{words[1], {words.begin() + 2, words.end()}};
  if (!is_nagaya_exec(wanted.path, wanted.arguments())) return wanted;
  const Words command(wanted.argv.begin() + 2, wanted.argv.end());
  return {task::find_program(command[0], task::own_environment()), command};
}

int execute_plainly(const Execution& wanted) {
  ::execv(wanted.path.c_str(), argv_of(wanted.argv).data());
  const int error = errno;
  complain(wanted.path + ": " + std::strerror(error));
  return exit_code_of(-error);
}

task::ProgramText text_of(const Execution& wanted) {
  const bool is_bare = wanted.path.find('/') == std::string::npos;  // execve searches no PATH
  const std::string path = (is_bare ? "./" : "") + wanted.path;
  task::ProgramText text = task::resolve_program(path, {wanted.argv.begin() + 1, wanted.argv.end()},
                                                 task::own_environment());
  if (text.name == path && !task::is_python(text)) text.name = wanted.argv[0];
  return text;
}

// Throws if the kernel would give the program other rights than this process has.
void require_own_rights(const std::string& path) {
  if (::getxattr(path.c_str(), "security.capability", nullptr, 0) >= 0)
    throw base::Error(-EPERM, "it has rights of its own (file capabilities)");
}

// Starts the task. Throws Error if the program cannot be one, or the host refuses it.
void start(const Execution& wanted, task::Client& client, std::optional<Proxy>& proxy) {
  require_own_rights(wanted.path);
  task::ProgramText text = text_of(wanted);
  const Guess guess = guess_role(text);
  if (guess.role == Role::kOverseer) throw base::Error(-EPERM, reason_of_overseer(wanted.path));
  if (guess.role == Role::kOther) throw base::Error(-EPERM, "it has no part in the rank");
  if (const LaunchedJob job = job_of_environment(); job.local_rank >= 0)
    tell_of_lone_rank(text, guess, job);
  else
    tell_of_lost_variables(text, guess, client.rank());
  preload_mpi_face(text, guess);
  proxy.emplace(std::move(text));
  proxy->launch.wanted_number = wanted_number(guess, client.rank());
  proxy->start(client);
}

// Tells the host, and once per rank the user, that a program of the rank runs outside of the space,
// if it is an MPI program.
void tell_left(const Execution& wanted, task::Client& client, const base::Error& reason) {
  const Guess guess = guess_role(wanted.path, wanted.arguments(), task::own_environment());
  if (guess.mpi_program.empty() || reason.code() == -EBUSY) return;
  tell_departure(client, client.rank(), guess.mpi_program, reason.what());
}

}  // namespace

int execute_command(const Words& words) {
  if (words.size() < 3) {
    complain("execute: a part of nagaya exec and nagaya run, which start it");
    return kExitOwnFailure;
  }
  Execution wanted;
  try {
    wanted = execution_of(words);
  } catch (const base::Error& error) {
    complain(error.what());
    return exit_code_of(error.code());
  }
  std::optional<task::Client> client;
  std::optional<Proxy> proxy;
  try {
    client = task::Client::follow(words[0]);
    start(wanted, *client, proxy);
  } catch (const base::Error& reason) {
    try {
      if (client) tell_left(wanted, *client, reason);
    } catch (const base::Error&) {
      // The host has ended.
    }
    client.reset();
    proxy.reset();
    return execute_plainly(wanted);
  }
  try {
    return proxy->serve(*client, {}, wanted.argv);
  } catch (const base::Error& error) {
    return end_after(error, &*client);
  }
}

}  // namespace nagaya::tools
