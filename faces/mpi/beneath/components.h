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

// To be called before MPI_Init. Open MPI 5 passes its search path of components on to PMIx, which
// reports each file of ours as an error. It does not if the environment has a path for PMIx, even
// an empty one (open-mpi/ompi 13314): then PMIx has its own components only.
void keep_components_from_pmix(void* mpi);

}  // namespace nagaya::mpi
