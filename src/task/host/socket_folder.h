// SPDX-License-Identifier: BSD-3-Clause
// socket_folder.h - the private folder in which the hosts of a user listen, and the sockets in it.
//
// A folder is opened once, checked by its descriptor, and used only by that descriptor: other users
// may write the parent folder, and put another folder under the same name at any moment.
#pragma once

#include <sys/un.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace nagaya::task {

// Opens a folder that belongs to this user alone: mode 0700, no link. Throws Error: -ENOENT when it
// is not there, -EPERM when it is not private.
base::Fd open_private_folder(const std::string& path);

// Returns the path of the folder for new sockets of this user; it may not exist yet.
std::string socket_folder_path();

// Opens the folder for new sockets of this user, and makes it when it is missing. Throws Error.
base::Fd open_socket_folder(std::string* path);

struct SocketFolder {
  std::string path;
  base::Fd fd;
};

// Returns the existing folders in which hosts of this user may listen, each one once. Leaves out
// folders of that name that are not private: another user may have made them to deceive.
std::vector<SocketFolder> socket_folders();

// Where the host of a job listens.
struct SocketPlace {
  std::string path;
  base::Fd folder;
  sockaddr_un address;  // reached by `folder`, so that the path may have any length
};

// Returns the place of a socket `name` in the open folder. Throws Error -ENAMETOOLONG.
SocketPlace place_in(base::Fd folder, const std::string& folder_path, const std::string& name);
// Returns the place of the socket with this path; nullopt when there is no such folder. Throws
// Error -EPERM when the folder is not private.
std::optional<SocketPlace> find_place(const std::string& socket_path);

base::Fd new_socket();

// Returns a connection to the host that listens at `place`; a closed Fd when no process listens
// there. Throws Error -EPERM when another user's process listens there, having sent it nothing.
base::Fd connect_to_host(const SocketPlace& place);

// Returns true if a process listens at `place`. A host that was just killed accepts connections for
// an instant, until the kernel has closed its descriptors and those of tasks that were just cloned:
// such a host does not count.
bool is_served(const SocketPlace& place);

// Binds `socket` to `place`, replacing any file there, and listens. The caller has locked the
// folder, and no process listens at `place`. Throws Error.
void listen_at(const base::Fd& socket, const SocketPlace& place);

// Removes the socket; false when there is none.
bool remove_socket(const SocketPlace& place);

// Returns true if the peer of a Unix socket runs as this process's user. The peer of a client's
// connected socket is the process that called listen(2).
bool is_of_same_user(const base::Fd& socket);

// Locks the folder against other processes that start a host in it or remove the socket of a dead
// host.
class FolderLock {
 public:
  explicit FolderLock(const base::Fd& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;

 private:
  int folder_;
};

}  // namespace nagaya::task
