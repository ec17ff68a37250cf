// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_job_info.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <numeric>

namespace nagaya::tools {
namespace {

PmixInfo info_of_application(const Application& application, uint32_t number, uint32_t first_rank) {
  PmixInfo info;
  info.add_uint32(PMIX_APPNUM, number);
  info.add_uint32(PMIX_APP_SIZE, application.count);
  info.add_rank(PMIX_APPLDR, first_rank);
  info.add_text(PMIX_APP_ARGV, fmt::format("{}", fmt::join(application.command, " ")));
  info.add_text(PMIX_WDIR, application.directory.empty() ? std::filesystem::current_path().string()
                                                         : application.directory);
  return info;
}

// Each rank gets the information about all others: it is short.
PmixInfo info_of_rank(uint32_t rank, uint32_t application, const PmixPlace& place) {
  PmixInfo info;
  info.add_rank(PMIX_RANK, rank);  // must be the first
  info.add_uint32(PMIX_APPNUM, application);
  info.add_uint16(PMIX_LOCAL_RANK, static_cast<uint16_t>(rank));
  info.add_uint16(PMIX_NODE_RANK, static_cast<uint16_t>(rank));
  info.add_uint32(PMIX_NODEID, 0);
  if (!place.processors.empty()) {  // to Open MPI the keys mean that the rank is bound
    info.add_text(PMIX_CPUSET, place.processors);
    info.add_text(PMIX_LOCALITY_STRING, place.locality);
  }
  return info;
}

void add_sizes(PmixInfo& info, const ParallelJob& job) {
  info.add_uint32(PMIX_JOB_SIZE, job.size());
  info.add_uint32(PMIX_MAX_PROCS, job.size());
  info.add_uint32(PMIX_LOCAL_SIZE, job.size());
  info.add_uint32(PMIX_NODE_SIZE, job.size());
  info.add_uint32(PMIX_UNIV_SIZE, job.universe_size);
  info.add_uint32(PMIX_NUM_NODES, 1);
  info.add_uint32(PMIX_JOB_NUM_APPS, static_cast<uint32_t>(job.applications.size()));
}

void add_node(PmixInfo& info, const ParallelJob& job, const std::string& host) {
  std::vector<uint32_t> ranks(job.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::string all_ranks = fmt::format("{}", fmt::join(ranks, ","));
  info.add_text(PMIX_NODE_MAP, host);
  info.add_text(PMIX_PROC_MAP, all_ranks);
  info.add_text(PMIX_LOCAL_PEERS, all_ranks);
  info.add_rank(PMIX_LOCALLDR, 0);
  if (job.is_oversubscribed) info.add_flag(PMIX_NODE_OVERSUBSCRIBED);
}

void add_folders(PmixInfo& info, const ParallelJob& job, const std::string& folder) {
  info.add_text(PMIX_TMPDIR, folder);
  info.add_text(PMIX_NSDIR, folder + "/" + std::to_string(job.id));
  info.add_flag(PMIX_TDIR_RMCLEAN);
}

void add_applications(PmixInfo& info, const ParallelJob& job) {
  std::vector<uint32_t> sizes, first_ranks;
  uint32_t first_rank = 0;
  for (const Application& application : job.applications) {
    const auto number = static_cast<uint32_t>(sizes.size());
    info.add_list(PMIX_APP_INFO_ARRAY, info_of_application(application, number, first_rank));
    sizes.push_back(application.count);
    first_ranks.push_back(first_rank);
    first_rank += application.count;
  }
  if (sizes.size() == 1) return;
  // Open MPI 5 has them as values of MPI_INFO_ENV.
  info.add_text("OMPI_APP_SIZES", fmt::format("{}", fmt::join(sizes, " ")));
  info.add_text("OMPI_FIRST_RANKS", fmt::format("{}", fmt::join(first_ranks, " ")));
}

}  // namespace

PmixInfo pmix_job_info(const ParallelJob& job, const std::vector<PmixPlace>& places,
                       const std::string& host, const std::string& folder) {
  PmixInfo info;
  info.add_text(PMIX_JOBID, job.name);
  if (job.id != 0) info.add_flag(PMIX_SPAWNED);
  add_sizes(info, job);
  add_node(info, job, host);
  add_folders(info, job, folder);
  add_applications(info, job);
  for (uint32_t rank = 0; rank < job.size(); ++rank)
    info.add_list(PMIX_PROC_DATA, info_of_rank(rank, job.application_of(rank), places[rank]));
  return info;
}

}  // namespace nagaya::tools
