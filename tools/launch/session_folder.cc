// SPDX-License-Identifier: BSD-3-Clause
#include "launch/session_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>

#include "task/host/session_folder.h"
#include "task/host/socket_folder.h"

namespace nagaya::tools {

SessionFolder::SessionFolder(const std::string& job) {
  std::string folder;
  const base::Fd parent = task::open_socket_folder(&folder);
  const task::FolderLock lock(parent);  // `nagaya clean` must not find the folder before its lock
  const std::string name = job + task::kSessionSuffix;
  path_ = folder + "/" + name;
  if (::mkdirat(parent.get(), name.c_str(), 0700) != 0)
    base::throw_errno("cannot make the folder " + path_);
  lock_ = base::checked_fd(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                           path_.c_str());
  ::flock(lock_.get(), LOCK_EX);
}

SessionFolder::~SessionFolder() {
  task::remove_session(path_);
}

void SessionFolder::add_segments(const std::vector<std::string>& beginnings) {
  std::ofstream file(path_ + "/" + task::kSegmentsFile, std::ios::app);
  for (const std::string& beginning : beginnings) file << beginning << "\n";
}

}  // namespace nagaya::tools
