// SPDX-License-Identifier: BSD-3-Clause
// fabric.h - the wire between delegatees: one endpoint per node, whatever the number of its tasks.
//
//   delegatee ──try_send / try_read / try_write──► Fabric ──► the network
//             ◄────────────── poll ──────────────
//
// Thread safety: none; one thread drives a Fabric (its delegatee). Nothing here blocks.
// A try_ function returns false when the fabric has no room just now: nothing has happened, try
// again after a poll. True: exactly one event with that cookie will come, possibly with an error.
// Order: messages to one node arrive in the order in which they were accepted. Reads and writes
// have no order, not even against messages. A network may lose messages between two others, and any
// program that reaches the endpoint may send one: the receiver of messages finds out by their
// content (delegatee/proof.h).
// Reads and writes: any program that reaches the endpoint and knows a region's key may do them.
// A peer that has died is reported by events with an error: for everything pending to it, and for
// everything later; messages that it had sent may still come. A peer that is silent, or that
// could never be reached, is not reported: try_ functions keep returning false. The delegatee's
// heartbeat finds such peers, and gives them up.
// Misuse is an event too: -EINVAL (no such node, outside of the region), -EMSGSIZE. Misuse that
// only the network can notice may end the link instead: a region that is deregistered while peers
// use it, local memory that does not exist.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nagaya::fabric {

using Node = uint32_t;  // 0 .. nodes-1, as in the list given to connect()
inline constexpr Node kUnknownNode = UINT32_MAX;

// Memory that other nodes may read and write; plain data, to be sent to them.
struct Region {
  uint64_t base;  // the fabric's name of the first byte: its address or 0
  uint64_t bytes;
  uint64_t key;  // random, if keys_are_secret()
};

struct Event {
  enum class Kind : uint32_t { kSent, kWritten, kRead, kReceived };

  Kind kind;
  int error;              // 0, or a negative errno: the operation of this cookie has failed
  Node node;              // the peer; kReceived: kUnknownNode, only the message itself says it
  uint64_t cookie;        // of the try_ call; 0 for kReceived
  const std::byte* data;  // kReceived only: valid until the next poll
  size_t bytes;
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  // The address by which peers reach this endpoint: opaque bytes, at most 256.
  virtual std::string address() const = 0;
  // Takes the addresses of the endpoints of all nodes, this one's included (a node sends to itself
  // like to any other). Called once, before anything else. Throws base::Error.
  virtual void connect(std::span<const std::string> addresses, Node self) = 0;

  virtual size_t message_max_bytes() const = 0;
  // Sends a message. `data` must stay unchanged until the event, which does not say that the
  // message has arrived.
  virtual bool try_send(Node node, const void* data, size_t bytes, uint64_t cookie) = 0;
  // Reads [offset, offset + bytes) of a region of the other node. The caller need not register the
  // local memory.
  virtual bool try_read(Node node, void* to, size_t bytes, const Region& from, uint64_t offset,
                        uint64_t cookie) = 0;
  // Writes [offset, offset + bytes) of a region of the other node. The event comes when the data
  // has arrived in the other node's memory.
  virtual bool try_write(Node node, const void* from, size_t bytes, const Region& to,
                         uint64_t offset, uint64_t cookie) = 0;

  // Treats the peer as dead from now on, whatever it does: every pending operation ends with an
  // error within 1 s, and every later one fails, too. As always, nothing touches an operation's
  // memory after its event. The events of the latest poll stay valid.
  virtual void give_up(Node node) = 0;

  // Throws base::Error (-ENOMEM, or the provider's error).
  virtual Region register_memory(void* base, size_t bytes) = 0;
  virtual void deregister(const Region& region) = 0;
  // True if a stranger has to guess 32 random bits or more to use a region. False: the provider
  // chooses the keys, and a stranger may know how.
  virtual bool keys_are_secret() const = 0;

  // Advances all operations and reports at most `events.size()` events. Returns their number.
  virtual size_t poll(std::span<Event> events) = 0;

  // Called before the thread sleeps: appends the descriptors to sleep on, which wake for events and
  // when a refused try_ call is worth repeating. False: do not sleep, poll (and try) again at once.
  virtual bool may_sleep(std::vector<pollfd>& descriptors) = 0;
};

}  // namespace nagaya::fabric
