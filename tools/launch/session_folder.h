// SPDX-License-Identifier: BSD-3-Clause
// session_folder.h - the folder for the files of a job's launcher and of its ranks' MPI. It lies
// beside the socket of the job's host (task/host/socket_folder.h), which removes it when the
// launcher was killed.
#pragma once

#include <string>

#include "base/fd.h"

namespace nagaya::tools {

class SessionFolder {
 public:
  // Makes the folder, which only this user may enter. It stays locked (flock(2)) while the launcher
  // lives: `nagaya clean` removes those that are not. Throws Error.
  explicit SessionFolder(const std::string& job);
  ~SessionFolder();  // removes it with all that is in it
  SessionFolder(const SessionFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  base::Fd lock_;
};

}  // namespace nagaya::tools
