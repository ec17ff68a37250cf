// SPDX-License-Identifier: BSD-3-Clause
// socket_folder.h - the private folder in which the hosts of a user listen, and the sockets in it.
//
// A folder is opened once, checked by its descriptor, and used by that descriptor from then on: its
// name may lie under a parent that others write, and may mean another folder a moment later.
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

// Where the folder for new sockets of this user is, or will be.
std::string socket_folder_path();

// Opens the folder for new sockets of this user, and makes it when it is missing. Throws Error.
base::Fd open_socket_folder(std::string* path);

struct SocketFolder {
  std::string path;
  base::Fd fd;
};

// The folders in which hosts of this user may listen: those that exist, each one once. Folders of
// the same name that are not private are left out: others may have made them to deceive.
std::vector<SocketFolder> socket_folders();

// Where the host of a job listens.
struct SocketPlace {
  std::string path;
  base::Fd folder;
  sockaddr_un address;  // by way of `folder`, so that the path may be of any length
};

// A socket `name` in the open folder. Throws Error -ENAMETOOLONG.
SocketPlace place_in(base::Fd folder, const std::string& folder_path, const std::string& name);
// The place of a socket with this path; none when there is no such folder. Throws Error -EPERM when
// the folder is not private.
std::optional<SocketPlace> find_place(const std::string& socket_path);

base::Fd new_socket();

// A connection to the host that listens at `place`; not open when nobody listens there. Throws
// Error -EPERM when another user listens there: nothing was sent to that user.
base::Fd connect_to_host(const SocketPlace& place);

// Whether somebody listens at `place`. A host that has just been killed still accepts connections
// for an instant, until the kernel has taken its descriptors from it and from tasks that were just
// cloned: it is not taken for a listener.
bool is_served(const SocketPlace& place);

// Replaces what lies at `place` by this socket, and listens. The caller has locked the folder, and
// nobody listens at `place`. Throws Error.
void listen_at(const base::Fd& socket, const SocketPlace& place);

// Removes the socket; false when there is none.
bool remove_socket(const SocketPlace& place);

// Whether the process at the other end of a Unix socket has this process's user. Of a connected
// socket of a client that is the process that called listen(2).
bool is_of_same_user(const base::Fd& socket);

// Excludes others who start a host in this folder, or remove what a host has left.
class FolderLock {
 public:
  explicit FolderLock(const base::Fd& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;

 private:
  int folder_;
};

}  // namespace nagaya::task
