// SPDX-License-Identifier: BSD-3-Clause
// pmi1_server.h - the launcher's side of PMI-1: the lines of text by which MPICH, Intel MPI and
// MVAPICH ask their launcher for rank, size, addresses and new jobs (src/bootstrap/pmi1.h speaks
// the other side).
// After: MPICH, src/pmi/maint/pmi-1.1.txt; what that leaves open, as hydra does it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/fd.h"
#include "launch/event_loop.h"
#include "launch/parallel_job.h"
#include "launch/pmi1_message.h"

namespace nagaya::tools {

class Pmi1Server {
 public:
  Pmi1Server(EventLoop& loop, LauncherServices& services) : loop_(loop), services_(services) {}
  Pmi1Server(const Pmi1Server&) = delete;
  ~Pmi1Server();

  // Makes a job known: its key-value space exists from now on, with `job.preset_values`, and says
  // that all ranks share a node. The reference must stay valid until remove().
  void add(const ParallelJob& job);
  // Forgets a job that has ended, with the connections of its ranks.
  void remove(uint32_t job);

  // Returns a rank's end of a new connection (PMI_FD). A rank may have several: each of the
  // programs that run one after another in its stead gets one. Throws Error.
  base::Fd connect(RankId rank);

 private:
  using Values = std::map<std::string, std::string>;
  struct Job;
  struct Connection : std::enable_shared_from_this<Connection> {
    Connection(RankId with, Job& of, base::Fd end) : rank(with), job(of), socket(std::move(end)) {}

    const RankId rank;
    Job& job;         // valid while the socket is open
    base::Fd socket;  // the launcher's end
    Pmi1Reader reader;
  };
  struct Job {
    const ParallelJob& description;
    Values values;
    // By rank: one that ends in the barrier stays there, and one that enters it again by another
    // connection counts once.
    std::map<uint32_t, std::weak_ptr<Connection>> in_barrier;
    std::set<std::shared_ptr<Connection>> connections;
    std::set<uint32_t> complained_ranks;
  };

  void serve(Connection& connection);
  void send(Connection& connection, const std::string& answer);
  void close(Connection& connection);
  void complain_once(const Connection& connection, const std::string& text);
  static bool has_room(const Values& values, const std::string& key);

  // Carries out the command of this name, and returns the answer; "": there is none, or not yet.
  // Throws Error -EPROTO: the command is malformed.
  using Handler = std::string(Connection& connection, const Pmi1Command& command);
  static Handler Pmi1Server::*handler_of(const std::string& command);
  Handler init, finalize, abort, get_maxes, get_appnum, get_universe_size, get_my_kvsname;
  Handler put, get, barrier_in, spawn, publish_name, unpublish_name, lookup_name;

  EventLoop& loop_;
  LauncherServices& services_;
  std::map<uint32_t, Job> jobs_;
  Values published_;  // ports, by service
};

}  // namespace nagaya::tools
