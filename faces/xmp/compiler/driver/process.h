// SPDX-License-Identifier: BSD-3-Clause
// process.h - runs other programs.
#pragma once

#include <string>
#include <vector>

namespace nagaya::xmp {

// Runs a program, found by PATH, and returns its status as a shell does: 127 if it cannot be
// started, 128 + the signal's number if a signal ended it.
int run(const std::vector<std::string>& words);

// From now on SIGINT, SIGTERM and SIGHUP end the program that run() or capture() waits for; these
// start no further program. The caller then removes its files and calls raise_interruption().
void catch_interruptions();
bool is_interrupted();
void raise_interruption();

struct Captured {
  int status;
  std::string output, errors;
};
// Runs a program like run() and collects its output. Sets the C locale, so that xmpcc can parse it.
Captured capture(const std::vector<std::string>& words);

// A folder in the system's folder for temporary files. path() creates it at its first call; the
// destructor removes it with its contents.
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
