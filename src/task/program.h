// SPDX-License-Identifier: BSD-3-Clause
// program.h - which file a command names, and whether it can be a task.
#pragma once

#include <string>
#include <vector>

#include "task/loader.h"

namespace nagaya::task {

// Turns a command into what the loader needs: searches PATH, follows symbolic links (so that
// $ORIGIN is right), replaces a `#!` script by its interpreter and a Python that is not
// position-independent by the launcher of this installation, and adds the malloc settings.
//
// Throws Error with a message that names the program, the cause and the cure:
//   -ENOENT          not found                       (exit code 127)
//   -ENOEXEC, -EACCES, -EISDIR, ...  cannot be run    (exit code 126)
ProgramText resolve_program(const std::string& command, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment);

// The file that `command` names (PATH is searched when it has no slash). Throws as above.
std::string find_program(const std::string& command, const std::vector<std::string>& environment);

// The value of `name` in an environment, nullptr when it is not set.
const char* environment_value(const std::vector<std::string>& environment, const char* name);

// The environment of this process.
std::vector<std::string> own_environment();

}  // namespace nagaya::task
