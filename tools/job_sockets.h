// SPDX-License-Identifier: BSD-3-Clause
// job_sockets.h - the jobs of this user on this node, found by the sockets of their hosts.
#pragma once

#include <string>
#include <vector>

#include "task/host/socket_folder.h"
#include "task/host/wire.h"

namespace nagaya::tools {

enum class SocketState {
  kAnswers,  // a host, and its job
  kStale,    // nobody listens: its host was killed
  kSilent,   // somebody listens, but says nothing that this nagaya understands
};

struct JobSocket {
  std::string path;
  std::string job;  // the name: the file's without its ending
  SocketState state = SocketState::kSilent;
  std::string trouble;     // why it is silent
  task::JobStatus status;  // when it answers
};

// The sockets of this user in `folder`, as paths, sorted.
std::vector<std::string> sockets_in(const task::SocketFolder& folder);

std::string job_name(const std::string& socket_path);

// Asks every socket. Jobs that end meanwhile are left out.
std::vector<JobSocket> ask_all_sockets();

}  // namespace nagaya::tools
