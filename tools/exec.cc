// SPDX-License-Identifier: BSD-3-Clause
// exec.cc - `nagaya exec`: a launcher starts it in a task's stead, and it is the task's proxy.
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "command.h"
#include "faces/openmpi/environment.h"
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

// Returns a descriptor that is readable once the launcher has ended; none if this process has no
// launcher, or on kernels before 5.3. Ends this process if the launcher has ended already.
base::Fd open_launcher(const LaunchedJob& job) {
  if (job.job.launcher_pid == ::getpid()) return {};
  base::Fd launcher(static_cast<int>(::syscall(SYS_pidfd_open, job.job.launcher_pid, 0)));
  if (!launcher && errno == ESRCH) end_like(W_EXITCODE(0, SIGKILL));
  return launcher;
}

}  // namespace

// Continues to attend a task after the waiter has found something that it does not expect.
int attend_command(Words words) {
  if (words.size() != kAttendanceWords) {
    complain("attend: a part of nagaya exec, which starts it");
    return kExitOwnFailure;
  }
  const Attendance own = attendance_of(argv_of(words).data());
  task::Client client = task::Client::resume(base::Fd(own.socket), own.socket_path);
  try {
    return attend(client, own);
  } catch (const base::Error& error) {
    return end_after(error, &client);
  }
}

int exec_command(const Words& command) {
  if (command.empty()) {
    complain("exec: no program is named");
    return kExitOwnFailure;
  }
  task::ProgramText text;
  Guess guess;
  try {
    if (const std::string host = host_of_run(); !host.empty()) {
      Words words{host, task::find_program(name_in("", command[0]), task::own_environment())};
      words.insert(words.end(), command.begin(), command.end());
      return execute_command(words);
    }
    // Open MPI's launcher hands us the name that its user has typed.
    const bool is_users = openmpi::is_rank(task::own_environment());
    text = task::resolve_program(is_users ? name_in("", command[0]) : command[0],
                                 {command.begin() + 1, command.end()}, environment_of_task());
    guess = guess_role(text);
    preload_mpi_face(text, guess);
  } catch (const base::Error& error) {
    complain(error.what());
    return exit_code_of(error.code());
  }
  const LaunchedJob job = job_of_environment();
  tell_of_lone_rank(text, guess, job);
  std::optional<task::Client> client;
  std::optional<Proxy> proxy;  // outlives the try: a signal must not end it before it has told why
  try {
    proxy.emplace(std::move(text));  // where its waiter is refused, no task is started
    const int64_t rank = std::max<int64_t>(job.local_rank, 0);  // 0: without a launcher
    proxy->launch.stands_for = stands_for(guess, rank);
    proxy->launch.wanted_number = wanted_number(guess, rank);
    const Proxy::Launcher launcher{open_launcher(job), job.signals_groups};
    client = task::Client::join(job.job, announce);
    proxy->start(*client);
    tell_overseen(*client, rank, proxy->launch.text.program, guess);
    return proxy->serve(*client, launcher, command);
  } catch (const base::Error& error) {
    return end_after(error, client ? &*client : nullptr);
  }
}

}  // namespace nagaya::tools
