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

// The messages of one rank of 0 .. size-1. Each node has equally many ranks, numbered node after
// node.
class Messages {
 public:
  virtual ~Messages() = default;

  int rank = 0;
  int size = 1;
  int nodes = 1;

  // Returns the memory where the caller writes the next message to a rank. `bytes` is the same for
  // all ranks.
  virtual std::byte* out(int to, size_t bytes) = 0;
  // Every message must be received by the rank that it is sent to, in the order of sending;
  // receive() returns its address.
  virtual void send(int to, size_t bytes) = 0;
  virtual const std::byte* receive(int from, size_t bytes) = 0;
  // Sends a message from every rank to every rank, itself included. Returns the address of the
  // received messages, in the order of ranks.
  virtual const std::byte* exchange(size_t bytes) = 0;
  virtual void barrier() = 0;
};

// Collective: makes the carrier's Messages, and sets their rank, size and nodes. Throws
// std::exception.
std::unique_ptr<Messages> open_messages(size_t bytes_max);
extern const char* const kCarrier;  // for people: "Open MPI"

// Measures the processor time that processes of this user on this node (this network namespace) use
// from the constructor on: the tasks and the host with its delegatee.
class NodeProcessor {
 public:
  NodeProcessor();
  double seconds() const;

 private:
  using ByProcess = std::map<std::string, uint64_t>;  // [ns]
  static ByProcess by_process();

  ByProcess start_ns_;
};

}  // namespace nagaya::bench
