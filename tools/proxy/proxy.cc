// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "base/plain_path.h"
#include "command.h"
#include "death.h"
#include "task/host/inheritance.h"
#include "task/host/stop_choice.h"
#include "task/load/installation.h"
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

}  // namespace

Proxy::Proxy(task::ProgramText text) : waiter_(find_waiter()) {
  launch.text = std::move(text);
  launch.inherit = task::inherit_from_this_process();
  launch.descriptor_numbers = task::inheritable_descriptors();
  directory_ =
      base::checked_fd(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), "the working directory");
  const sigset_t forwarded = forwarded_signals();
  signals_ = base::checked_fd(::signalfd(-1, &forwarded, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  ::sigprocmask(SIG_SETMASK, &forwarded, &mask_before_);
}

Proxy::~Proxy() {
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Proxy::start(task::Client& client) {
  std::vector<int> descriptors(launch.descriptor_numbers);
  descriptors.push_back(directory_.get());
  started_ = client.launch(launch, descriptors);
}

int Proxy::serve(task::Client& client, const Launcher& launcher,
                 const std::vector<std::string>& command) {
  const std::string tool = std::filesystem::read_symlink("/proc/self/exe");
  const Attendance own{
      client.fd(),  signals_.get(),          launcher.process.get(),       started_.number,
      started_.pid, launcher.signals_groups, client.socket_path().c_str(), tool.c_str()};
  become_waiter(waiter_, client, own, command);
  return attend(client, own);
}

int attend(task::Client& client, const Attendance& own) {
  for (;;) {
    while (const auto end = client.poll_ended()) {
      if (end->reason) throw *end->reason;
      tell_of_fault(*end);
      end_like(end->wait_status);
    }
    pollfd ready[] = {
        {client.fd(), POLLIN, 0}, {own.signals, POLLIN, 0}, {own.launcher, POLLIN, 0}};
    ::poll(ready, std::size(ready), -1);
    if (ready[1].revents != 0) forward(own, [&](int signal) { client.signal(own.pid, signal); });
    if (ready[2].revents != 0) end_like(W_EXITCODE(0, SIGKILL));
  }
}

void announce(const base::Error& error) {
  complain(error.what());
}

int end_after(const base::Error& error, const task::Client* client) {
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

}  // namespace nagaya::tools
