// SPDX-License-Identifier: BSD-3-Clause
// rank_socket.h - the socket by which the programs of a rank get descriptors from `nagaya run`:
// each program that runs in the rank's stead needs a connection of its own to the server of PMI-1
// (PMI_FD), and wrappers such as Python's subprocess close the one that they have inherited.
//
//   program                        launcher
//   {magic, rank}             ->
//                             <-   {magic}, with the descriptor; or the end
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include "base/fd.h"
#include "launch/event_loop.h"
#include "task/host/socket_folder.h"

namespace nagaya::tools {

// The launcher's side.
class RankSocket {
 public:
  // Returns the descriptor for a rank, given its index among all ranks of the launcher. Throws
  // Error: there is no such rank.
  using Connect = std::function<base::Fd(uint32_t rank)>;

  // Listens at `path`, in a folder which only this user may enter. Throws Error.
  RankSocket(EventLoop& loop, const std::string& path, Connect connect);
  ~RankSocket();
  RankSocket(const RankSocket&) = delete;

  // Returns the variable (NAME=VALUE) by which the programs of the ranks find the socket.
  std::string variable() const;

 private:
  void accept_programs();
  void answer(int program);
  void drop(int program);

  EventLoop& loop_;
  Connect connect_;
  task::SocketPlace place_;
  base::Fd listener_;
  std::list<base::Fd> programs_;  // connected, and not yet answered; the oldest first
};

// The program's side: replaces the descriptor that PMI_FD names by a new connection. Does nothing
// if no `nagaya run` has started this process; keeps the old descriptor if the launcher has gone.
void renew_pmi1_connection(uint32_t rank);

}  // namespace nagaya::tools
