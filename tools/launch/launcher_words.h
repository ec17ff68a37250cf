// SPDX-License-Identifier: BSD-3-Clause
// launcher_words.h - what `nagaya run` was told, in the words of mpirun, hydra's mpiexec and srun.
#pragma once

#include <string>
#include <vector>

#include "launch/launcher.h"
#include "launch/mpi_program.h"

namespace nagaya::tools {

// Returns the options for the whole job. Throws OptionError: the launcher has no such option.
std::vector<std::string> job_words(LauncherKind kind, const LaunchChoice& choice);

// Returns the programs, each with its own options, then `options`, then `wrapper` before the
// program's name. Throws OptionError: the launcher starts one program only.
std::vector<std::string> program_words(LauncherKind kind,
                                       const std::vector<Application>& applications,
                                       const std::vector<std::string>& options,
                                       const std::vector<std::string>& wrapper);

}  // namespace nagaya::tools
