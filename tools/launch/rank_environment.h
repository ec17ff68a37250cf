// SPDX-License-Identifier: BSD-3-Clause
// rank_environment.h - the variables that tell a rank its place in its job: those that the
// launchers of Open MPI and MPICH set, for programs and scripts that read them, and settings that
// these MPIs need under our launcher.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/parallel_job.h"

namespace nagaya::tools {

// Returns variables (NAME=VALUE), beside those of the servers of PMIx and PMI-1. They override
// those that the rank inherits: a rank that spawns others hands its own on to them.
std::vector<std::string> environment_of_rank(const ParallelJob& job, uint32_t rank);

// Whether a variable (NAME=VALUE) in the launcher's own environment is of another launcher that has
// started it. Open MPI in a rank that inherits it would look for that launcher.
bool is_of_outer_launcher(const std::string& variable);

}  // namespace nagaya::tools
