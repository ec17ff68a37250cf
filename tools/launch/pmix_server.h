// SPDX-License-Identifier: BSD-3-Clause
// pmix_server.h - the launcher's side of PMIx: libpmix's server, by which Open MPI (and an MPICH
// that was built so) asks its launcher for rank, size, addresses, new jobs and published names.
//
// libpmix is loaded when the server is made: one in a process. Its threads run until the process
// ends; what they ask of the launcher is done on the launcher's thread (EventLoop::post).
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>
#include <vector>

#include "launch/event_loop.h"
#include "launch/parallel_job.h"

namespace nagaya::tools {

class PmixLibrary;

class PmixServer {
 public:
  // Starts the library's server, with its files in `folder`, which only this user may enter.
  // `topology` stays the caller's, and must live longer. Throws Error: it does not start.
  PmixServer(EventLoop& loop, LauncherServices& services, const PmixLibrary& library,
             const std::string& folder, hwloc_topology_t topology);
  ~PmixServer();

  // Where a rank may run (a list of processors as hwloc prints it: "0-3,8"; "": not bound).
  using Bindings = std::vector<std::string>;

  // Makes a job known to the server, before its ranks start. `bindings`: one for each rank. The
  // reference must stay valid until remove(). Throws Error.
  void add(const ParallelJob& job, const Bindings& bindings);
  // Forgets a job that has ended.
  void remove(uint32_t job);

  // Returns the variables by which the rank finds the server (NAME=VALUE). Throws Error.
  std::vector<std::string> environment_of(RankId rank);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nagaya::tools
