// SPDX-License-Identifier: BSD-3-Clause
// tool.h - the subcommands of `nagaya`, one file each. A subcommand adds itself to the parser and
// sets the function that runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "command.h"

namespace nagaya::tools {

// Exit codes of the command (as env, nice and timeout have them); else the task's own.
inline constexpr int kExitOwnFailure = 125;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;

// Run by main() once the command line is parsed; returns the exit code.
using Action = std::function<int()>;

void add_exec(CLI::App& app, Action& action);
void add_attend(CLI::App& app, Action& action);  // for the waiter
void add_run(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_ps(CLI::App& app, Action& action);
void add_clean(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_gdb(CLI::App& app, Action& action);

// Declares the rest of the command line, `program [arguments...]`, which is passed on untouched.
void add_command(CLI::App& subcommand, std::vector<std::string>& command);

// Sets the operands of the usage line and the examples that --help shows of a subcommand.
void add_help(CLI::App& subcommand, const std::string& operands, const std::string& examples);

// Prints "nagaya: <text>" as one line (base/printable.h).
void complain(const std::string& text);

// That of a command that cannot be run because of this error: 126, or 127 when it was not found.
int exit_code_of(int error_code);

}  // namespace nagaya::tools
