// SPDX-License-Identifier: BSD-3-Clause
// components.h - our components for Open MPI (faces/openmpi). Where they fit the release they may
// carry the messages and collectives of a job, and the face carries windows alone.
#pragma once

#include <string>

namespace nagaya::mpi {

// Returns for which release of Open MPI ("4.1.4") this process has components, if it is that of
// `mpi`, a handle of dlopen(3); else "". The environment tells, so the answer is the same in all
// processes of a job.
std::string release_of_components(void* mpi);

}  // namespace nagaya::mpi
