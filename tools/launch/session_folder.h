// SPDX-License-Identifier: BSD-3-Clause
// session_folder.h - the session folder of a launcher's job (task/host/session_folder.h).
#pragma once

#include <string>
#include <vector>

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

  // Makes what `beginnings` names in /dev/shm go with the folder.
  void add_segments(const std::vector<std::string>& beginnings);

 private:
  std::string path_;
  base::Fd lock_;
};

}  // namespace nagaya::tools
