// SPDX-License-Identifier: BSD-3-Clause
// node.h - the delegatee's view of its own node. The host implements these over the shared
// structures. All are called by the delegatee's thread only, must not block and must not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "llcl/command.h"

namespace nagaya::delegatee {

// The lanes of the node's tasks.
class Lanes {
 public:
  class Visitor {
   public:
    virtual size_t wanted(uint32_t lane) = 0;  // how many commands, at most 32; 0: leave them there
    virtual void visit(uint32_t lane, const llcl::Command* commands, size_t count) = 0;

   protected:
    ~Visitor() = default;
  };

  virtual ~Lanes() = default;
  virtual uint32_t capacity() const = 0;
  // One round over the lanes: how many commands were taken. 0: nothing has come to a lane of which
  // something is wanted.
  virtual size_t drain(Visitor& visitor) = 0;
  // The bell is armed: the next drain finds all earlier commands, and each later push rings.
  virtual void before_sleep() = 0;
  // The task has ended: commands that still wait in its lanes are thrown away.
  virtual void reclaim(uint32_t task) = 0;
};

struct Memory {
  int error;  // 0, or a negative errno: -EINVAL no such region
  std::byte* base;
  size_t bytes;
};

// The registered memory of the node's tasks.
class Regions {
 public:
  virtual ~Regions() = default;
  virtual Memory find(uint32_t task, uint32_t region) = 0;
  // Grows whenever a region has ended: its registration with the fabric is then dropped.
  virtual uint64_t endings() const = 0;
};

// A message to a task, or a part of one: parts of one node's messages come in order, and a
// message's after each other.
struct MessagePart {
  uint32_t task;  // the receiver
  uint32_t handler;
  uint32_t source_node;
  uint32_t source_task;
  uint64_t bytes;   // of the whole message
  uint64_t offset;  // of this part
  std::span<const std::byte> part;
};

// kBacklogged: accepted, and the node holds more for the task than it may: it does not keep up.
// kRefused: there is no such task, or no such message can be. kUnheard: the task has no handler.
enum class Delivered : uint8_t { kAccepted, kBacklogged, kFull, kRefused, kUnheard };

// The mailboxes and bells of the node's tasks.
class Delivery {
 public:
  virtual ~Delivery() = default;
  virtual Delivered deliver(const MessagePart& message) = 0;
  // Posts what was accepted for mailboxes that were full. Whether some of it still waits.
  virtual bool post_late() { return false; }
  // Whether a task of another node has a backlog, as its node has said.
  virtual void note_backlog(uint32_t, uint32_t, bool) {}
  // The rest will not come: the parts of a message that is not whole are thrown away.
  virtual void abandon(uint32_t source_node) = 0;
  // The Request at `request` of `task` is complete. False: no room just now, nothing has happened.
  virtual bool post_completion(uint32_t task, uint64_t request, int status) = 0;
  // Something was stored that a thread of the task may be waiting for: a completion, or data that
  // another node has written.
  virtual void wake(uint32_t task) = 0;
  // An ended task (Delegatee::abandon): from now on nothing of ours touches its memory.
  virtual void released(uint32_t task) = 0;
  // The node has failed, for ever: -ECONNRESET, -EHOSTUNREACH, -EPROTO; -EIO: the own fabric has.
  virtual void lost(uint32_t, int) {}
};

}  // namespace nagaya::delegatee
