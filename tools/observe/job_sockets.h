// SPDX-License-Identifier: BSD-3-Clause
// job_sockets.h - the jobs of this user on this node, found by the sockets of their hosts.
#pragma once

#include <string>
#include <vector>

#include "task/host/socket_folder.h"
#include "task/host/wire.h"

namespace nagaya::tools {

enum class SocketState {
  kAnswers,  // a host has answered with its job's status
  kStale,    // nobody listens: its host was killed
  kSilent,   // somebody listens, but says nothing that this nagaya understands
};

struct JobSocket {
  std::string path;
  std::string job;  // the job's name: the file name without its ending
  SocketState state = SocketState::kSilent;
  std::string trouble;     // kSilent: the reason
  task::JobStatus status;  // kAnswers: the host's answer
};

// Returns the paths of this user's sockets in `folder`, sorted.
std::vector<std::string> sockets_in(const task::SocketFolder& folder);

std::string job_name(const std::string& socket_path);

// Asks every socket. Jobs that end meanwhile are left out.
std::vector<JobSocket> ask_all_sockets();

}  // namespace nagaya::tools
