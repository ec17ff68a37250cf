// SPDX-License-Identifier: BSD-3-Clause
// pmi1_spawn.h - the programs that a rank wants to have started (MPI_Comm_spawn and
// MPI_Comm_spawn_multiple), as PMI-1 describes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/parallel_job.h"
#include "launch/pmi1_message.h"

namespace nagaya::tools {

struct Pmi1Spawn {
  std::vector<Application> applications;
  std::map<std::string, std::string> preset_values;
};

// Throws Error -EPROTO if a field is missing or malformed, and what spawn_info.h throws. Ignores
// info keys that it does not know, as MPI wants.
Pmi1Spawn spawn_of(const Pmi1Command& command);

}  // namespace nagaya::tools
