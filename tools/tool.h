// SPDX-License-Identifier: BSD-3-Clause
// tool.h - what all subcommands have in common: exit codes, and how they complain.
#pragma once

#include <string>

namespace nagaya::tools {

// Exit codes of the command (as env, nice and timeout have them); else the task's own.
inline constexpr int kExitOwnFailure = 125;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;

// That of a command that cannot be run because of this error: 126, or 127 when it was not found.
int exit_code_of(int error_code);

// Prints "nagaya: <text>" as one line (base/printable.h).
void complain(const std::string& text);

}  // namespace nagaya::tools
