// SPDX-License-Identifier: BSD-3-Clause
// loopback.h - a network of endpoints in one process, for tests: it misbehaves on demand.
//
//   endpoint 0 ──link 0→1──► endpoint 1      a link is a queue of operations; the poll of the
//              ◄─link 1→0──                  endpoint at its end carries them out
//
// As on a real fabric nothing moves unless the target polls, kSent does not say that the message
// has arrived (of a small one it comes at once), and an endpoint's end is its peers' error.
// Thread safety: each endpoint may have a thread of its own; the network's functions are for any.
#pragma once

#include <memory>

#include "fabric/fabric.h"

namespace nagaya::fabric {

// Faults that the contract allows, drawn from a seed.
struct FaultPlan {
  uint64_t seed = 1;
  unsigned refuse_percent = 0;   // of the try_ calls answer false
  unsigned lose_percent = 0;     // of the operations do not arrive: their event is -EIO
  unsigned delay_polls_max = 0;  // an operation waits for up to so many polls of its target: reads
                                 // and writes overtake each other and messages
  size_t room = 256;             // operations under way on a link; then try_ answers false
};

class LoopbackNetwork {
 public:
  explicit LoopbackNetwork(unsigned nodes, const FaultPlan& plan = {});
  ~LoopbackNetwork();

  // Once for each node; it may outlive the network object. Its destruction is its death.
  std::unique_ptr<Fabric> open(Node node);

  // All pending and later operations between the two fail, in both directions.
  void cut_link(Node a, Node b);
  // Silence in both directions; accepted operations arrive after resume_link.
  void pause_link(Node a, Node b);
  void resume_link(Node a, Node b);
  // How many regions of the node are registered.
  size_t registered(Node node) const;
  // The death of a node: every link to it is cut.
  void cut_endpoint(Node node);

  class State;

 private:
  std::shared_ptr<State> state_;
};

// All endpoints of a network, connected.
std::vector<std::unique_ptr<Fabric>> open_all(LoopbackNetwork& network, unsigned nodes);

}  // namespace nagaya::fabric
