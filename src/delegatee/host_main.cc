// SPDX-License-Identifier: BSD-3-Clause
// host_main.cc - the program nagaya-host. Started by a reaper (reaper_main.cc), which a client has
// started (host_start.cc), with the client's listening socket as descriptor 3, a socket with
// HostSettings as descriptor 4, the folder of the listening socket as descriptor 5, and a socket to
// the reaper as descriptor 6.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "delegatee/server.h"
#include "task/host/client.h"
#include "task/host/host.h"
#include "task/host/host_process.h"
#include "task/host/host_settings.h"
#include "task/host/reaper.h"
#include "task/host/socket_folder.h"
#include "task/host/wire.h"

namespace {

using namespace nagaya;

// Sends an error to the starter in place of the pid, before the host listens.
void refuse_starter(const base::Fd& starter, const base::Error& reason) {
  const std::string said = task::encode_plain(int32_t{reason.code()}) + reason.what();
  static_cast<void>(::send(starter.get(), said.data(), said.size(), MSG_NOSIGNAL));
}

// Reads the settings, then waits until the listener listens. False when the starter has died.
bool read_settings(const base::Fd starter, task::HostSettings* settings) {
  const pid_t self = ::getpid();
  if (::send(starter.get(), &self, sizeof self, MSG_NOSIGNAL) != sizeof self ||
      ::read(starter.get(), settings, sizeof *settings) != sizeof *settings ||
      !settings->stamp.matches(sizeof *settings))
    return false;
  task::choose_stop_point(settings->stop_choice);
  task::stop_at(task::StopPoint::kHostStarted);
  char go;
  return ::read(starter.get(), &go, 1) == 1;
}

task::SocketPlace place_of(const task::HostSettings& settings) {
  base::Fd folder(task::kHostFolderFd);
  const std::filesystem::path path(settings.socket_path);
  return task::place_in(std::move(folder), path.parent_path(), path.filename());
}

// Sends the error to the first client, which tells its user: the host's standard streams lead
// nowhere.
void refuse_first_client(const base::Fd& listener, const base::Error& reason) {
  constexpr int kLimitMs = 5000;
  pollfd ready{listener.get(), POLLIN, 0};
  if (::poll(&ready, 1, kLimitMs) <= 0) return;
  try {
    task::Channel client(base::Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    client.limit_wait(kLimitMs / 1000);
    client.receive();  // its Hello: unread, it would take the answer with it
    client.send(task::MessageType::kRefused, task::encode_refusal(reason));
  } catch (const std::exception&) {
    return;  // the client has ended
  }
}

// Removes the socket, unless another host listens under the same path by now.
void leave(base::Fd& listener, const task::SocketPlace& place) {
  listener.reset();
  try {
    task::remove_stale_socket(place);
  } catch (const std::exception&) {
    return;  // it is as stale to others as to this host
  }
}

}  // namespace

int main() {
  task::HostSettings settings{};
  base::Fd listener(task::kHostListenerFd), starter(task::kHostSettingsFd);
  std::optional<task::Reaper> reaper;
  try {
    reaper.emplace(base::Fd(task::kHostReaperFd));
    task::guard_the_break();
  } catch (const std::exception& error) {
    refuse_starter(starter, task::as_error(error));
    return 125;
  }
  std::optional<task::SocketPlace> place;
  std::optional<task::Host> host;
  std::optional<delegatee::Server> server;  // ends before its host
  try {
    ::closefrom(task::kHostReaperFd + 1);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    const bool is_to_serve = read_settings(std::move(starter), &settings);
    place = place_of(settings);
    if (!is_to_serve) {
      std::fprintf(stderr, "nagaya-host: started by nagaya only\n");
      leave(listener, *place);
      return 125;
    }
    task::unignore_signals();
    task::reset_affinity_and_limits();
    host.emplace(settings, listener, *place, *reaper);
    server.emplace(host->space());
    host->set_upper_floor(*server);
    task::forbid_core_dumps_on_old_kernels();
  } catch (const std::exception& error) {
    server.reset();
    host.reset();  // frees its memory, for the answer
    refuse_first_client(listener, task::as_error(error));
    if (place) leave(listener, *place);
    return 125;
  }
  host->run();  // an exception ends the host and its tasks at once
  return 0;
}
