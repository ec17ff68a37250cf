// SPDX-License-Identifier: BSD-3-Clause
// program.h - finds the file that a command names, and checks that it can be a task.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace nagaya::task {

// A program to start.
struct ProgramText {
  std::string program;                 // absolute path
  std::string name;                    // argv[0]
  std::vector<std::string> arguments;  // argv[1] ...
  std::vector<std::string> environment;
  std::string process_name = {};  // for PR_SET_NAME: the name of the started file
};

// Turns a command into what the loader needs: searches PATH, follows symbolic links (so that
// $ORIGIN is right), replaces a `#!` script by its interpreter and a Python that is not
// position-independent by this installation's `nagaya-python`, and adds the malloc settings.
//
// Throws Error with a message that names the program, the cause and the cure:
//   -ENOENT          not found                       (exit code 127)
//   -ENOEXEC, -EACCES, -EISDIR, ...  it or its interpreter cannot be run (exit code 126)
ProgramText resolve_program(const std::string& command, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment);

// Does only that part of resolve_program() that ordinary processes need, too: finds the file to
// run, which for a `#!` script is its interpreter.
ProgramText resolve_interpreter(const std::string& command,
                                const std::vector<std::string>& arguments,
                                const std::vector<std::string>& environment);

// Returns true if this resolved program is a Python, under any name (`python` in a virtual
// environment).
bool is_python(const ProgramText& text);

// Returns the words by which a user knows the process, without a look at any file (the host need
// not see the program): its path; of a Python, by its name, which may run by `nagaya-python`, the
// beginning of its command line.
std::string shown_command(const ProgramText& text);

// Speeds up resolving one program many times, for creators of many tasks: reads the file again only
// when it has changed. Scripts and Python programs are not cached, but resolved each time.
class ProgramCache {
 public:
  // Returns and throws as resolve_program() does.
  ProgramText resolve(const std::string& command, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment);

 private:
  struct CachedProgram {
    struct stat file;
    ProgramText text;  // without arguments and environment
  };
  std::map<std::string, CachedProgram> known_;  // by absolute path
};

// Returns the file that `command` names (searches PATH when it has no slash). Throws the errors of
// resolve_program().
std::string find_program(const std::string& command, const std::vector<std::string>& environment);

// Returns the value of `name` in an environment, nullptr when it is not set.
const char* environment_value(const std::vector<std::string>& environment, const char* name);

// The environment of this process.
std::vector<std::string> own_environment();

}  // namespace nagaya::task
