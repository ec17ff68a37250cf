// SPDX-License-Identifier: BSD-3-Clause
// clean.cc - `nagaya clean`: removes the sockets of killed hosts and the session folders of killed
// launchers. A job leaves nothing else: its memory is private, and nothing else of it has a name.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/fd.h"
#include "base/printable.h"
#include "observe/job_sockets.h"
#include "subcommands.h"
#include "task/host/session_folder.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLockLimit = 5s;  // the holder starts a host, which takes milliseconds
constexpr auto kLockTick = 10ms;

struct Cleaning {
  bool dry_run = false;
  int removed = 0;
  int failed = 0;

  void did(const std::string& what, bool succeeded) {
    if (succeeded) {
      ++removed;
      fmt::print("{} {}\n", dry_run ? "would remove" : "removed", base::printable(what));
    } else {
      ++failed;
      complain("clean: cannot remove " + what + ": " + std::strerror(errno));
    }
  }
};

// Returns true if no process listens at the socket: its host was killed. A full queue of
// connections is a sign of life.
bool is_stale(const base::Fd& folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The path through the open folder is short, however long the folder's own path is.
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), name);
  if (path.size() >= sizeof address.sun_path) return false;
  std::copy(path.begin(), path.end(), address.sun_path);
  const base::Fd socket =
      base::checked_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
             0 &&
         errno == ECONNREFUSED;
}

// Takes the folder's lock. Returns false after kLockLimit. A client that starts a host holds the
// lock while its socket exists and nobody listens yet.
bool lock(const base::Fd& folder) {
  for (auto waited = 0ms; waited < kLockLimit; waited += kLockTick) {
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(kLockTick);
  }
  return false;
}

// Removes the session folders (launch/session_folder.h) that no launcher has locked. Returns how
// many.
size_t clean_sessions(const task::SocketFolder& folder, Cleaning& cleaning) {
  size_t gone = 0;
  const fs::path here = fmt::format("/proc/self/fd/{}", folder.fd.get());
  for (const fs::path& entry : fs::directory_iterator(here)) {
    if (entry.extension() != task::kSessionSuffix) continue;
    const base::Fd session(::open(entry.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!session || ::flock(session.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!cleaning.dry_run) task::remove_session(entry);
    const bool is_gone = cleaning.dry_run || !fs::exists(entry);
    cleaning.did(fs::path(folder.path) / entry.filename(), is_gone);
    if (is_gone) ++gone;
  }
  return gone;
}

void clean_folder(const task::SocketFolder& folder, Cleaning& cleaning) {
  if (!lock(folder.fd)) {
    ++cleaning.failed;
    complain(folder.path + ": locked by a job that starts; try again");
    return;
  }
  const auto entries = fs::directory_iterator(fmt::format("/proc/self/fd/{}", folder.fd.get()));
  size_t left = std::distance(entries, {});
  for (const std::string& socket : sockets_in(folder)) {
    const std::string name = fs::path(socket).filename();
    if (!is_stale(folder.fd, name)) continue;
    const bool gone = cleaning.dry_run || ::unlinkat(folder.fd.get(), name.c_str(), 0) == 0;
    cleaning.did(socket, gone);
    if (gone) --left;
  }
  left -= clean_sessions(folder, cleaning);
  if (left == 0) cleaning.did(folder.path, cleaning.dry_run || ::rmdir(folder.path.c_str()) == 0);
}

}  // namespace

int clean_command(const CleanOptions& options) {
  Cleaning cleaning{.dry_run = options.dry_run};
  for (const task::SocketFolder& folder : task::socket_folders()) clean_folder(folder, cleaning);
  if (cleaning.removed == 0 && cleaning.failed == 0) fmt::print("nothing to remove\n");
  return cleaning.failed == 0 ? 0 : kExitOwnFailure;
}

}  // namespace nagaya::tools
