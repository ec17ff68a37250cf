// SPDX-License-Identifier: BSD-3-Clause
// program.h - which file a command names, and whether it can be a task.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace nagaya::task {

// A program as it is to be started.
struct ProgramText {
  std::string program;                 // absolute path
  std::string name;                    // argv[0]
  std::vector<std::string> arguments;  // argv[1] ...
  std::vector<std::string> environment;
  std::string process_name = {};  // as of PR_SET_NAME: the file that was started
};

// Turns a command into what the loader needs: searches PATH, follows symbolic links (so that
// $ORIGIN is right), replaces a `#!` script by its interpreter and a Python that is not
// position-independent by the launcher of this installation, and adds the malloc settings.
//
// Throws Error with a message that names the program, the cause and the cure:
//   -ENOENT          not found                       (exit code 127)
//   -ENOEXEC, -EACCES, -EISDIR, ...  it or its interpreter cannot be run (exit code 126)
ProgramText resolve_program(const std::string& command, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment);

// The part of it that ordinary processes need as well: the file to be run, which for a `#!` script
// is its interpreter.
ProgramText resolve_interpreter(const std::string& command,
                                const std::vector<std::string>& arguments,
                                const std::vector<std::string>& environment);

// Is this resolved program a Python? Whatever it is called: a virtual environment's is `python`.
bool is_python(const ProgramText& text);

// Resolves the same program again and again, as a creator of many tasks does: reads the file anew
// only when it has changed. For programs that are neither scripts nor Python; those are resolved
// each time.
class ProgramCache {
 public:
  // As resolve_program().
  ProgramText resolve(const std::string& command, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment);

 private:
  struct Known {
    struct stat file;
    ProgramText text;  // without arguments and environment
  };
  std::map<std::string, Known> known_;  // by absolute path
};

// The file that `command` names (PATH is searched when it has no slash). Throws as above.
std::string find_program(const std::string& command, const std::vector<std::string>& environment);

// The value of `name` in an environment, nullptr when it is not set.
const char* environment_value(const std::vector<std::string>& environment, const char* name);

// The environment of this process.
std::vector<std::string> own_environment();

}  // namespace nagaya::task
