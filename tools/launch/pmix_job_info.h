// SPDX-License-Identifier: BSD-3-Clause
// pmix_job_info.h - the description of a job that PMIx hands to each of its ranks: sizes, ranks,
// programs, folders and places.
#pragma once

#include <string>
#include <vector>

#include "launch/parallel_job.h"
#include "launch/pmix_info.h"

namespace nagaya::tools {

// Where a rank may run; empty texts: it is not bound.
struct PmixPlace {
  std::string processors;  // a list as hwloc prints it
  std::string locality;    // the objects of the topology, as libpmix prints them
};

// Returns the description of `job`, whose ranks all run on this node. `places`: one for each rank.
// `folder`: for temporary files of the ranks; the launcher removes it.
PmixInfo pmix_job_info(const ParallelJob& job, const std::vector<PmixPlace>& places,
                       const std::string& host, const std::string& folder);

}  // namespace nagaya::tools
