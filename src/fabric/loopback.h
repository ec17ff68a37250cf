// SPDX-License-Identifier: BSD-3-Clause
// loopback.h - a network of endpoints in one process, for tests: it misbehaves on demand.
//
//   endpoint 0 ──link 0→1──► endpoint 1      a link is a queue of operations; the poll of the
//              ◄─link 1→0──                  endpoint at its end carries them out
//
// As on a real fabric, nothing moves unless the target polls; kSent does not say that the message
// has arrived (for a small message kSent comes at once); the end of an endpoint is an error for its
// peers. Thread safety: one thread may use each endpoint; any thread may call the network's
// functions.
#pragma once

#include <memory>

#include "fabric/fabric.h"

namespace nagaya::fabric {

// Faults that the contract (fabric.h) allows, drawn from a seed.
struct FaultPlan {
  uint64_t seed = 1;
  unsigned refuse_percent = 0;   // of the try_ calls return false
  unsigned lose_percent = 0;     // of the operations do not arrive: their event is -EIO
  unsigned delay_polls_max = 0;  // an operation waits for up to so many polls of its target: reads
                                 // and writes overtake each other and messages
  size_t room = 256;             // pending operations of a link; then try_ answers false
};

class LoopbackNetwork {
 public:
  explicit LoopbackNetwork(unsigned nodes, const FaultPlan& plan = {});
  ~LoopbackNetwork();

  // Opens the endpoint of a node, once for each. The endpoint may outlive the network object. Its
  // destruction counts as the death of the node.
  std::unique_ptr<Fabric> open(Node node);

  // Fails all pending and later operations between the two, in both directions.
  void cut_link(Node a, Node b);
  // Stops the link in both directions; accepted operations arrive after resume_link.
  void pause_link(Node a, Node b);
  void resume_link(Node a, Node b);
  // Number of registered regions of the node.
  size_t registered(Node node) const;
  // Lets a node die: cuts every link to it.
  void cut_endpoint(Node node);

  class State;

 private:
  std::shared_ptr<State> state_;
};

// Opens and connects all endpoints of a network.
std::vector<std::unique_ptr<Fabric>> open_all(LoopbackNetwork& network, unsigned nodes);

}  // namespace nagaya::fabric
