// SPDX-License-Identifier: BSD-3-Clause
// delegation.h - the messages of the delegation paper's patterns, and their carriers: Nagaya's
// requests (llcl.cc), Open MPI (mpi.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace nagaya::bench {

// Ranks 0 .. size-1; as many of them on each node, one node after the other.
class Messages {
 public:
  virtual ~Messages() = default;

  int rank = 0;
  int size = 1;
  int nodes = 1;

  // Where the next message to a rank is written: `bytes` of it, the same for all ranks.
  virtual std::byte* out(int to, size_t bytes) = 0;
  // Every message is received by the rank it goes to, in turn; then it is where `receive` says.
  virtual void send(int to, size_t bytes) = 0;
  virtual const std::byte* receive(int from, size_t bytes) = 0;
  // A message from everybody to everybody, themselves included; the first of them, by rank.
  virtual const std::byte* exchange(size_t bytes) = 0;
  virtual void barrier() = 0;
};

// The carrier sets rank, size and nodes; collective. Throws std::exception.
std::unique_ptr<Messages> open_messages(size_t bytes_max);
extern const char* const kCarrier;  // for people: "Open MPI"

// The processor time that processes of this user on this node (this network namespace) use from now
// on: the tasks and the host with its delegatee.
class NodeProcessor {
 public:
  NodeProcessor() : start_ns_(by_process()) {}
  double seconds() const;

 private:
  using ByProcess = std::map<std::string, uint64_t>;  // [ns]
  static ByProcess by_process();

  ByProcess start_ns_;
};

}  // namespace nagaya::bench
