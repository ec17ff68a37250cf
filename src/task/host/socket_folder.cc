// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/socket_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace nagaya::task {
namespace {

using base::Error;

constexpr int kListenBacklog = 4096;

// Returns the paths at which the folder of this user's sockets may lie, best first.
std::vector<std::string> possible_socket_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"})
    if (const char* value = ::getenv(variable); value != nullptr && ::access(value, W_OK) == 0)
      folders.push_back(value);
  folders.push_back("/tmp");
  for (std::string& folder : folders) folder += "/nagaya-" + std::to_string(::geteuid());
  return folders;
}

const sockaddr* plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Returns a connection to the listener at `place`, of any user; a closed Fd when no process
// listens.
base::Fd connect_to(const SocketPlace& place) {
  base::Fd socket = new_socket();
  int error = 0;
  do  // again after a signal: connect() waits while the listener's queue is full
    error = ::connect(socket.get(), plain(place.address), sizeof place.address);
  while (error != 0 && errno == EINTR);
  if (error == 0) return socket;
  if (errno == ENOENT || errno == ECONNREFUSED) return {};
  base::throw_errno("cannot connect to the host of the job");
}

// Returns the effective user of the peer; an invalid user number when it is not known.
uid_t user_of_peer(const base::Fd& socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  const bool is_known = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0;
  return is_known ? peer.uid : static_cast<uid_t>(-1);
}

}  // namespace

namespace {

// Makes the error for a folder that is not private to this user. Its text names a cure that works
// even if another user owns the folder.
Error not_private(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || about.st_uid == ::geteuid())
    return {-EPERM, path + ": not a folder of yours alone (mode 0700); remove it or set TMPDIR"};
  return {-EPERM, path + ": belongs to user " + std::to_string(about.st_uid) +
                      ", not to you; set TMPDIR to a folder of yours (the same for the whole job), "
                      "or have it removed by root"};
}

}  // namespace

base::Fd open_private_folder(const std::string& path) {
  base::Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const int error = errno;
  // These errors mean a file, a link, and a folder that is closed to this user.
  const bool is_not_private = !folder && (error == ENOTDIR || error == ELOOP || error == EACCES);
  if (!folder && !is_not_private) base::throw_errno(path, error);
  struct stat about {};
  if (folder && ::fstat(folder.get(), &about) != 0) base::throw_errno(path);
  if (is_not_private || about.st_uid != ::geteuid() || (about.st_mode & 0777) != 0700)
    throw not_private(path);
  return folder;
}

std::string socket_folder_path() {
  return possible_socket_folders().front();
}

base::Fd open_socket_folder(std::string* path) {
  *path = socket_folder_path();
  if (::mkdir(path->c_str(), 0700) != 0 && errno != EEXIST)
    base::throw_errno("cannot make the socket folder " + *path);
  return open_private_folder(*path);
}

std::vector<SocketFolder> socket_folders() {
  std::vector<std::string> paths = possible_socket_folders();
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<SocketFolder> folders;
  for (const std::string& path : paths) {
    try {
      folders.push_back({path, open_private_folder(path)});
    } catch (const Error&) {
      continue;
    }
  }
  return folders;
}

SocketPlace place_in(base::Fd folder, const std::string& folder_path, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder.get()) + "/" + name;
  if (path.size() >= sizeof address.sun_path) throw Error(-ENAMETOOLONG, name + ": name too long");
  std::copy(path.begin(), path.end(), address.sun_path);
  return {folder_path + "/" + name, std::move(folder), address};
}

std::optional<SocketPlace> find_place(const std::string& socket_path) {
  const std::filesystem::path path(socket_path);
  try {
    return place_in(open_private_folder(path.parent_path()), path.parent_path(), path.filename());
  } catch (const Error& error) {
    if (error.code() != -ENOENT) throw;
    return std::nullopt;
  }
}

base::Fd new_socket() {
  return base::checked_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
}

base::Fd connect_to_host(const SocketPlace& place) {
  base::Fd socket = connect_to(place);
  if (socket && !is_of_same_user(socket))
    throw Error(-EPERM, place.path + ": user " + std::to_string(user_of_peer(socket)) +
                            " listens there in place of your host; remove it or set TMPDIR");
  return socket;
}

bool is_served(const SocketPlace& place) {
  constexpr int kDyingMs = 100, kTries = 10;
  for (int n = 0; n < kTries; ++n) {
    const base::Fd socket = connect_to(place);
    if (!socket) return false;
    pollfd end{socket.get(), POLLIN, 0};
    if (::poll(&end, 1, kDyingMs) == 0) return true;  // a host sends nothing unasked
    ::usleep(1000);
  }
  return true;  // a process that accepts and closes: no host, but not ours to remove
}

void listen_at(const base::Fd& socket, const SocketPlace& place) {
  remove_socket(place);  // removes a stale one; other users cannot write the folder
  if (::bind(socket.get(), plain(place.address), sizeof place.address) != 0 ||
      ::chmod(place.address.sun_path, 0600) != 0 || ::listen(socket.get(), kListenBacklog) != 0)
    base::throw_errno("cannot listen for the tasks of the job");
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
}

bool remove_socket(const SocketPlace& place) {
  return ::unlink(place.address.sun_path) == 0;
}

bool is_of_same_user(const base::Fd& socket) {
  return user_of_peer(socket) == ::geteuid();
}

FolderLock::FolderLock(const base::Fd& folder) : folder_(folder.get()) {
  while (::flock(folder_, LOCK_EX) != 0)
    if (errno != EINTR) base::throw_errno("cannot lock the socket folder");
}

FolderLock::~FolderLock() {
  ::flock(folder_, LOCK_UN);
}

}  // namespace nagaya::task
