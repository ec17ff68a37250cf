// SPDX-License-Identifier: BSD-3-Clause
// host_start.h - starts the host of a job: the program nagaya-host.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "task/host/socket_folder.h"

namespace nagaya::task {

// Names the job, and says how to start its host if this client is the first.
struct Job {
  std::string name;      // of the socket; equal for all clients of the job on this node
  uint8_t key[16] = {};  // the secret that the job's processes share
  std::string group;     // the host counts tasks per group: one per job step of the launcher
  uint32_t group_tasks = 0;
  uint32_t capacity = 0;
  int32_t launcher_pid = 0;
  bool keeps_tasks = false;
  std::string existing_socket;  // of a running host: join only this one, start none
};

// Starts a host that listens at `place`, whose folder the caller has locked, and connects to it;
// `host`: its pidfd. Throws Error.
base::Fd start_host(const Job& job, const SocketPlace& place, base::Fd* host);

}  // namespace nagaya::task
