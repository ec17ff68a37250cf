// SPDX-License-Identifier: BSD-3-Clause
// spawn_info.h - the arguments of MPI_Comm_spawn and MPI_Comm_spawn_multiple that mean the same by
// PMI-1 and by PMIx.
#pragma once

#include <string>
#include <vector>

#include "launch/parallel_job.h"

namespace nagaya::tools {

// Throws Error -EINVAL: there are no ranks to start, or too many.
void require_sound_counts(const std::vector<Application>& applications);

// `hosts`: MPI's info key "host", names with commas between. Throws Error -ENOTSUP: one of them is
// another host.
void require_this_host(const std::string& hosts);

// `folders`: MPI's info key "path", with colons between. Returns the path of the program in the
// first folder that has it, else `name` itself.
std::string program_in(const std::string& folders, const std::string& name);

}  // namespace nagaya::tools
