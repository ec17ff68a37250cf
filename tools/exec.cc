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

#include <filesystem>
#include <fstream>
#include <optional>

#include "attendance.h"
#include "base/plain_path.h"
#include "command.h"
#include "death.h"
#include "faces/openmpi/environment.h"
#include "job.h"
#include "subcommands.h"
#include "task/host/client.h"
#include "task/host/inheritance.h"
#include "task/host/stop_choice.h"
#include "task/load/installation.h"
#include "task/load/program.h"
#include "task_environment.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

// Returns the signals that are forwarded to the task: all that can be caught, except SIGCHLD and
// those that faults of this process itself raise.
sigset_t forwarded_signals() {
  sigset_t all;
  ::sigfillset(&all);
  for (int own : {SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE})
    ::sigdelset(&all, own);
  return all;
}

// Returns a descriptor that is readable once the launcher has ended; none if this process has no
// launcher, or on kernels before 5.3. Ends this process if the launcher has ended already.
base::Fd open_launcher(const LaunchedJob& job) {
  if (job.job.launcher_pid == ::getpid()) return {};
  base::Fd launcher(static_cast<int>(::syscall(SYS_pidfd_open, job.job.launcher_pid, 0)));
  if (!launcher && errno == ESRCH) end_like(W_EXITCODE(0, SIGKILL));
  return launcher;
}

// Serves the task until it ends; then ends this process in the same way. If the launcher was
// killed, no task is left behind, because this process ends and the host kills tasks without a
// proxy. (The ranks of Open MPI 5 would stay for ever.)
int attend(task::Client& client, const Attendance& own) {
  for (;;) {
    while (const auto end = client.poll_ended()) {
      if (end->reason) throw *end->reason;
      tell_of_fault(*end, own.pid);
      end_like(end->wait_status);
    }
    pollfd ready[] = {
        {client.fd(), POLLIN, 0}, {own.signals, POLLIN, 0}, {own.launcher, POLLIN, 0}};
    ::poll(ready, std::size(ready), -1);
    if (ready[1].revents != 0) forward(own, [&](int signal) { client.signal(own.task, signal); });
    if (ready[2].revents != 0) end_like(W_EXITCODE(0, SIGKILL));
  }
}

// Returns true if a debugger or a tracer follows this process.
bool is_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "TracerPid:") return status >> word && word != "0";
  return false;
}

// Returns the path of the waiter; "" if it is not installed. Throws if other users could have
// changed it.
std::string find_waiter() {
  try {
    return task::installed_program("nagaya-waiter");
  } catch (const base::Error& error) {
    if (error.code() != -ENOENT) throw;
    return "";
  }
}

// Becomes the waiter. Returns if that is not possible (it is not installed, say), or if a debugger
// follows this program or a stop point is set: then this program itself attends the task.
void become_waiter(const std::string& waiter, const task::Client& client, const Attendance& own,
                   const std::vector<std::string>& command) {
  const bool is_followed = task::stop_choice().point != task::StopPoint::kNone || is_traced();
  if (waiter.empty() || !client.is_idle() || is_followed) return;
  std::vector<std::string> words = {"nagaya-waiter"};
  for (const int number : {own.socket, own.signals, own.launcher, static_cast<int>(own.task),
                           own.pid, static_cast<int>(own.signals_groups)})
    words.push_back(std::to_string(number));
  words.insert(words.end(), {own.socket_path, own.tool});
  words.insert(words.end(), command.begin(), command.end());
  const int kept[] = {own.socket, own.signals, own.launcher};
  const auto set_flags = [&](int flags) {
    for (const int fd : kept)
      if (fd >= 0) ::fcntl(fd, F_SETFD, flags);
  };
  set_flags(0);
  base::PathLinks::own().pass_on(true);
  ::execv(waiter.c_str(), argv_of(words).data());
  set_flags(FD_CLOEXEC);
  base::PathLinks::own().pass_on(false);
}

// Handles an error. If the host has ended, ends this process as one whose task is lost. Else prints
// the error, and returns the exit code.
int end_after(const base::Error& error, const task::Client* client,
              const task::Announcement& announce) {
  if (error.code() == -EPIPE) {
    if (client != nullptr) task::announce_host_death(client->socket_path(), error, announce);
    end_like(W_EXITCODE(0, SIGKILL));  // as its task: launchers then end the job
  }
  announce(error);
  // These errors of the host concern the program; after any other the task could not be set up.
  const bool of_program = error.code() == -ENOENT || error.code() == -ENOEXEC ||
                          error.code() == -EACCES || error.code() == -E2BIG;
  return client != nullptr && of_program ? exit_code_of(error.code()) : kExitOwnFailure;
}

// Returns the command's name as this program finds it. Open MPI's launcher also finds programs in
// the working folder, after all folders of PATH, but hands us the user's name (MPI_Comm_spawn).
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

}  // namespace

// Continues to attend a task after the waiter has found something that it does not expect.
int attend_command(Words words) {
  if (words.size() != kAttendanceWords) {
    complain("attend: a part of nagaya exec, which starts it");
    return kExitOwnFailure;
  }
  const Attendance own = attendance_of(argv_of(words).data());
  const task::Announcement announce = [](const base::Error& error) { complain(error.what()); };
  task::Client client = task::Client::resume(base::Fd(own.socket), own.socket_path);
  try {
    return attend(client, own);
  } catch (const base::Error& error) {
    return end_after(error, &client, announce);
  }
}

int exec_command(const Words& command) {
  if (command.empty()) {
    complain("exec: no program is named");
    return kExitOwnFailure;
  }
  task::Launch launch;
  try {
    launch.text = task::resolve_program(
        name_for_us(command[0]), {command.begin() + 1, command.end()}, environment_of_task());
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
  const base::Fd launcher = open_launcher(job);
  const task::Announcement announce = [](const base::Error& error) { complain(error.what()); };
  std::optional<task::Client> client;
  try {
    const std::string waiter = find_waiter();  // where it is refused, no task is started
    client = task::Client::join(job.job, announce);
    const task::Started started = client->launch(launch, descriptors);
    const std::string tool = std::filesystem::read_symlink("/proc/self/exe");
    const Attendance own{client->fd(),
                         signals.get(),
                         launcher.get(),
                         started.number,
                         started.pid,
                         job.signals_groups,
                         client->socket_path().c_str(),
                         tool.c_str()};
    become_waiter(waiter, *client, own, command);
    return attend(*client, own);
  } catch (const base::Error& error) {
    return end_after(error, client ? &*client : nullptr, announce);
  }
}

}  // namespace nagaya::tools
