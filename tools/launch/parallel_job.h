// SPDX-License-Identifier: BSD-3-Clause
// parallel_job.h - a parallel job as the launcher sees it: programs, ranks, and what the ranks' MPI
// may ask of their launcher.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nagaya::tools {

// One of the programs of a job, and how many ranks run it ("application context" in PMIx).
struct Application {
  std::vector<std::string> command = {};      // name or path, then arguments; not empty
  uint32_t count = 1;                         // of ranks
  std::string directory = {};                 // to start in; "": that of `nagaya run`
  std::vector<std::string> environment = {};  // NAME=VALUE, in addition to that of `nagaya run`
};

struct ParallelJob {
  uint32_t id = 0;        // 0: the job of the command line; the next ones: MPI_Comm_spawn's
  std::string name = {};  // PMIx's name space and PMI-1's key-value space; unique on this machine
  std::vector<Application> applications = {};
  uint32_t universe_size = 1;  // how many ranks Open MPI may start here (MPI_UNIVERSE_SIZE)
  bool is_oversubscribed = false;
  // Values that the parent has put into the new job's key-value space (PMI-1's "preput").
  std::map<std::string, std::string> preset_values = {};

  uint32_t size() const {
    uint32_t ranks = 0;
    for (const Application& application : applications) ranks += application.count;
    return ranks;
  }
  // Returns the index of the application that `rank` runs.
  uint32_t application_of(uint32_t rank) const {
    uint32_t index = 0;
    while (index + 1 < applications.size() && rank >= applications[index].count)
      rank -= applications[index++].count;
    return index;
  }
};

struct RankId {
  uint32_t job = 0;  // ParallelJob::id
  uint32_t rank = 0;
  auto operator<=>(const RankId&) const = default;
};

// Requests of the servers of PMI-1 and PMIx to the launcher; called on its thread.
class LauncherServices {
 public:
  virtual ~LauncherServices() = default;

  // Starts another job for `parent`, and returns its description. Throws Error: nothing was
  // started.
  virtual const ParallelJob& spawn(RankId parent, std::vector<Application> applications,
                                   std::map<std::string, std::string> preset_values) = 0;
  // Ends all jobs: a rank wants it. `text`: what the MPI says about it, and prints itself; may be
  // empty.
  virtual void abort(RankId rank, int exit_code, const std::string& text) = 0;
  // The rank's MPI has been started, or has been ended (MPI_Finalize).
  virtual void mpi_started(RankId rank) = 0;
  virtual void mpi_ended(RankId rank) = 0;
};

}  // namespace nagaya::tools
