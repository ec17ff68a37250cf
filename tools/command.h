// SPDX-License-Identifier: BSD-3-Clause
// command.h - the words of a command: for execv(2), for a shell, and for asking another program.
#pragma once

#include <string>
#include <vector>

namespace nagaya::tools {

// Returns the words as execv(2) takes them: pointers into `words`, which must outlive them, then a
// null pointer.
std::vector<char*> argv_of(const std::vector<std::string>& words);

enum class Errors { kDropped, kIncluded };  // the program's output to standard error

// Runs the program (found by PATH when its name has no slash) with nothing to read, waits until it
// ends, and returns its output; "" when it cannot be started. No shell reads the words.
std::string output_of(const std::vector<std::string>& words, Errors errors = Errors::kDropped);

// Returns the text as one word of a command that a user is told to type: quoted where a shell needs
// it.
std::string shell_word(const std::string& text);

// Returns the name by which execv(2) in `directory` ("": here) finds the program that the user, or
// MPI_Comm_spawn, calls `name`: mpirun searches the directory, too, after all folders of PATH.
std::string name_in(const std::string& directory, const std::string& name);

}  // namespace nagaya::tools
