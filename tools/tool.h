// SPDX-License-Identifier: BSD-3-Clause
// tool.h - the exit codes and the error messages of all subcommands.
#pragma once

#include <string>

#include "base/error.h"

namespace nagaya::tools {

// The command's own exit codes (those of env, nice and timeout); else it exits with the task's.
inline constexpr int kExitOwnFailure = 125;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;

// Returns the exit code for a program that this error keeps from running: 127 when it was not
// found, else 126.
int exit_code_of(int error_code);

// An option whose value is wrong: the command ends with kExitOwnFailure.
class OptionError : public base::Error {
 public:
  explicit OptionError(const std::string& text) : Error(-EINVAL, text) {}
};

// Prints "nagaya: <text>" to standard error as one line (base/printable.h).
void complain(const std::string& text);

}  // namespace nagaya::tools
