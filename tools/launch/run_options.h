// SPDX-License-Identifier: BSD-3-Clause
// run_options.h - what the command line of `nagaya run` says, and how its values are read.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/launcher.h"
#include "launch/mpi_program.h"

namespace nagaya::tools {

inline constexpr uint32_t kRanksMax = 4096;

struct RunOptions {
  LaunchChoice launch;
  bool blacs = false;
  std::string launcher = "auto";  // or "none", "mpi"
  HostChoice hosts;
  std::vector<std::string> launcher_arguments;

  bool names_hosts() const { return hosts.list || hosts.file; }
};

// Reads the value of --timeout: seconds, or M:S, or H:M:S. Throws OptionError.
std::chrono::seconds time_limit_of(const std::string& text);

// Reads the value of -x, NAME=VALUE or NAME. Returns NAME=VALUE, with the value that the variable
// NAME has here; "": it has none. Throws OptionError: the name is empty.
std::string variable_of(const std::string& text);

// Returns the value of --output. Throws OptionError: it is one of Open MPI 5's ("tag", "dir=x"),
// not the name of a file.
std::string output_pattern_of(const std::string& text);

// Throws OptionError if a program is missing, or there are too many ranks.
void check(const std::vector<Application>& applications);

}  // namespace nagaya::tools
