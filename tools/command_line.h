// SPDX-License-Identifier: BSD-3-Clause
// command_line.h - the words of a command line, checked before CLI11 reads them. CLI11 takes words
// with one dash apart: it would read mpirun's -host as our -h, and -np 4 as our -n with the value
// p.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nagaya::tools {

// A command line, without the name of the program.
struct CheckedLine {
  std::vector<std::string> words;                  // as CLI11 is to read them
  std::vector<std::vector<std::string>> programs;  // of `run`: what stands behind each word ":"
};

// Returns the line with "help run" as "run --help", and a long option with one dash, as mpirun and
// mpiexec have them, with two: "-np" as "--np". Throws OptionError for an option that the
// subcommand does not have; for one of mpirun, mpiexec or srun its text says how to get the effect
// here.
CheckedLine checked_line(const CLI::App& app, std::vector<std::string> words);

// The name of a command whose options are those that a program behind ":" may have.
inline constexpr char kProgramBehindColon[] = "run :";

// Checks in the same way the words behind ":". `command` is named kProgramBehindColon.
std::vector<std::string> checked_program(const CLI::App& command, std::vector<std::string> words);

}  // namespace nagaya::tools
