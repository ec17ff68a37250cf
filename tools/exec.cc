// SPDX-License-Identifier: BSD-3-Clause
// exec.cc - `nagaya exec`: the proxy. A launcher starts it in the task's stead; it hands over what
// it has inherited, forwards signals and ends as the task ends.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "faces/openmpi/environment.h"
#include "job.h"
#include "task/client.h"
#include "task/program.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

// Signals that mean the task: all that can be caught, but those that say how this process itself
// fares (SIGCHLD) and those that its own faults raise.
sigset_t forwarded_signals() {
  sigset_t all;
  ::sigfillset(&all);
  for (int own : {SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE})
    ::sigdelset(&all, own);
  return all;
}

// Has the task got this signal by itself? In the proxy's process group it gets what the terminal
// sends (the kernel, to the foreground group) and what a launcher sends (killpg).
bool reached_group(const signalfd_siginfo& info, bool in_group, pid_t launcher) {
  if (!in_group) return false;
  return info.ssi_code == SI_KERNEL ||
         (launcher > 1 && info.ssi_pid == static_cast<uint32_t>(launcher));
}

void forward(task::Client& client, const task::Started& task, int signals, bool signals_groups) {
  signalfd_siginfo info;
  while (::read(signals, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    const bool in_group = ::getpgid(task.pid) == ::getpgrp();
    if (!reached_group(info, in_group, signals_groups ? ::getppid() : 0))
      client.signal(task.number, signal);
    // The launcher or shell watches this process: it must be seen to stop as the task does.
    if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) ::kill(::getpid(), SIGSTOP);
  }
}

// Readable once the launcher has ended; none where this process stands for itself.
base::Fd open_launcher(const LaunchedJob& job) {
  if (job.job.launcher_pid == ::getpid()) return {};
  return base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, job.job.launcher_pid, 0)));
}

// Stands for the task until it ends; then this process ends as it has. A launcher that was killed
// leaves no task behind (the ranks of Open MPI 5 stay for ever): the host kills those whose proxy
// has gone.
int attend(task::Client& client, const task::Started& task, int signals, const LaunchedJob& job) {
  const base::Fd launcher = open_launcher(job);
  for (;;) {
    while (auto ended = client.poll_ended()) end_like(ended->wait_status);
    pollfd ready[] = {{client.fd(), POLLIN, 0}, {signals, POLLIN, 0}, {launcher.get(), POLLIN, 0}};
    ::poll(ready, std::size(ready), -1);
    if (ready[1].revents != 0) forward(client, task, signals, job.signals_groups);
    if (ready[2].revents != 0) end_like(W_EXITCODE(0, SIGKILL));
  }
}

// Open MPI's launcher also finds what is in the working folder, behind all that PATH has, and names
// it to us as the user did (MPI_Comm_spawn).
std::string name_for_us(const std::string& command) {
  const std::string here = "./" + command;
  if (!openmpi::is_rank(task::own_environment()) || command.find('/') != std::string::npos ||
      ::access(here.c_str(), X_OK) != 0 || !std::filesystem::is_regular_file(here))
    return command;
  try {
    task::find_program(command, task::own_environment());
    return command;
  } catch (const base::Error&) {
    return here;
  }
}

int exec(const std::vector<std::string>& command) {
  if (command.empty()) {
    complain("exec: no program is named");
    return kExitOwnFailure;
  }
  task::Launch launch;
  try {
    launch.text = task::resolve_program(
        name_for_us(command[0]), {command.begin() + 1, command.end()}, task::own_environment());
  } catch (const base::Error& error) {
    complain(error.what());
    return exit_code_of(error.code());
  }
  const LaunchedJob job = job_of_environment();
  launch.inherit = task::inherit_from_this_process();
  launch.wanted_number = job.local_rank;
  launch.descriptor_numbers = task::inheritable_descriptors();
  std::vector<int> descriptors(launch.descriptor_numbers);
  const base::Fd directory =
      base::checked_fd(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), "the working directory");
  descriptors.push_back(directory.get());

  const sigset_t forwarded = forwarded_signals();
  ::sigprocmask(SIG_SETMASK, &forwarded, nullptr);
  const base::Fd signals =
      base::checked_fd(::signalfd(-1, &forwarded, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  const task::Announcement announce = [](const base::Error& error) { complain(error.what()); };
  std::optional<task::Client> client;
  try {
    client = task::Client::join(job.job, announce);
    return attend(*client, client->launch(launch, descriptors), signals.get(), job);
  } catch (const base::Error& error) {
    if (error.code() == -EPIPE) {
      if (client) task::bury_host(client->socket_path(), error, announce);
      end_like(W_EXITCODE(0, SIGKILL));  // as its task: launchers then end the job
    }
    announce(error);
    // Of what the host says only these concern the program; else the task could not be set up.
    const bool of_program = error.code() == -ENOENT || error.code() == -ENOEXEC ||
                            error.code() == -EACCES || error.code() == -E2BIG;
    return client && of_program ? exit_code_of(error.code()) : kExitOwnFailure;
  }
}

}  // namespace

void add_exec(CLI::App& app, Action& action) {
  CLI::App* exec_command = app.add_subcommand(
      "exec", "Run one process as a task of its job's space (under mpirun, srun, ...)");
  auto command = std::make_shared<std::vector<std::string>>();
  add_command(*exec_command, *command);
  exec_command->callback([&action, command] { action = [command] { return exec(*command); }; });
}

}  // namespace nagaya::tools
