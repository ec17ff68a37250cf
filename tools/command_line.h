// SPDX-License-Identifier: BSD-3-Clause
// command_line.h - the words of a command line, checked before CLI11 reads them. CLI11 takes words
// with one dash apart: it would read mpirun's -host as our -h, and -np 4 as our -n with the value
// p.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nagaya::tools {

// Returns the words (without the name of the program) as CLI11 is to read them: "help run" as
// "run --help", "-np" as "--np". Throws Error -EINVAL for an option that the subcommand does not
// have; for one of mpirun, mpiexec or srun its text says how to get the effect here.
std::vector<std::string> checked_words(const CLI::App& app, std::vector<std::string> words);

}  // namespace nagaya::tools
