// SPDX-License-Identifier: BSD-3-Clause
// process.h - runs other programs.
#pragma once

#include <string>
#include <vector>

namespace nagaya::xmp {

// Both find the program by PATH. Status as a shell gives it: 127 if it cannot be started, 128 and
// the signal's number if a signal ended it.
int run(const std::vector<std::string>& words);

// From now on SIGINT, SIGTERM and SIGHUP end the program that run() or capture() waits for, and
// none starts any more, so that the caller removes its files and ends by raise_interruption().
void catch_interruptions();
bool is_interrupted();
void raise_interruption();

struct Captured {
  int status;
  std::string output, errors;
};
// In the C locale, so that the output can be read.
Captured capture(const std::vector<std::string>& words);

// A folder of our own in the system's folder for temporary files, removed with all in it. Made when
// it is first asked for.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path();

 private:
  std::string path_;
};

}  // namespace nagaya::xmp
