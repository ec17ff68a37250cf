// SPDX-License-Identifier: BSD-3-Clause
// pmix_spawn.h - the programs that a rank wants to have started (MPI_Comm_spawn and
// MPI_Comm_spawn_multiple), as PMIx describes them.
#pragma once

#include <pmix_common.h>

#include <vector>

#include "launch/parallel_job.h"

namespace nagaya::tools {

// Throws Error -EINVAL if the description makes no sense, -ENOTSUP if it asks for another host.
// Hints about the placement of ranks are ignored, as MPI allows.
std::vector<Application> applications_of(const pmix_app_t* apps, size_t count);

}  // namespace nagaya::tools
