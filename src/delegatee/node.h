// SPDX-License-Identifier: BSD-3-Clause
// node.h - the delegatee's view of its own node. The host implements these over the shared
// structures. All are called by the delegatee's thread only, must not block, but for the
// accumulates, and must not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "llcl/board/accumulate.h"
#include "llcl/board/command.h"

namespace nagaya::delegatee {

// The lanes of the node's tasks.
class Lanes {
 public:
  class Visitor {
   public:
    // Number of commands to take from the lane, at most 32; 0: leave them there.
    virtual size_t wanted(uint32_t lane) = 0;
    virtual void visit(uint32_t lane, const llcl::Command* commands, size_t count) = 0;

   protected:
    ~Visitor() = default;
  };

  virtual ~Lanes() = default;
  virtual uint32_t capacity() const = 0;
  // Makes one round over the lanes. Returns the number of commands taken; 0: all lanes from which
  // commands are wanted are empty.
  virtual size_t drain(Visitor& visitor) = 0;
  // Arms the bell: the next drain finds all earlier commands, and each later push rings.
  virtual void before_sleep() = 0;
  // Throws away the commands that still wait in the lanes of an ended task.
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
  // Change memory of a region, atomically against the accumulates of the node's tasks. They wait
  // while a task changes elements in the same block of 4 KiB. Return 0, -EINVAL.
  virtual int accumulate(const nagaya_llcl_accumulation& what) = 0;
  virtual int compare_swap(const llcl::CompareSwap& what) = 0;
  // A number that grows whenever a region ends: the delegatee then drops the region's registration
  // with the fabric.
  virtual uint64_t endings() const = 0;
};

// A message to a task, or a part of one. The messages of one node come in order, and so do the
// parts of a message, with no part of another message between them.
struct MessagePart {
  uint32_t task;  // the receiver
  uint32_t handler;
  uint32_t source_node;
  uint32_t source_task;
  uint64_t bytes;   // of the whole message
  uint64_t offset;  // of this part
  std::span<const std::byte> part;
};

// kBacklogged: accepted, but the task does not keep up: the node's backlog for it is over the limit
// at which senders are told. kFull: no room; try again later. kRefused: there is no such task, or
// the message is impossible. kUnheard: the task has no handler.
enum class Delivered : uint8_t { kAccepted, kBacklogged, kFull, kRefused, kUnheard };

// The mailboxes and bells of the node's tasks.
class Delivery {
 public:
  virtual ~Delivery() = default;
  virtual Delivered deliver(const MessagePart& message) = 0;
  // Posts accepted messages whose mailboxes were full. Returns true if some of them still wait.
  virtual bool post_late() { return false; }
  // Stores whether a task of another node has a backlog, as that node has said.
  virtual void note_backlog(uint32_t, uint32_t, bool) {}
  // Throws away the parts of the node's unfinished message: the rest will not come.
  virtual void abandon(uint32_t source_node) = 0;
  // Tells the task that its Request at `request` is complete. False: no room just now, nothing has
  // happened.
  virtual bool post_completion(uint32_t task, uint64_t request, int status) = 0;
  // Wakes the task's waiting threads: a completion, or data that another node has written, was
  // stored.
  virtual void wake(uint32_t task) = 0;
  // From now on the delegatee and its fabric do not touch the memory of this ended task
  // (Delegatee::abandon).
  virtual void released(uint32_t task) = 0;
  // The node has failed, for ever: -ECONNRESET, -EHOSTUNREACH, -EPROTO; -EIO: this node's own
  // fabric has failed.
  virtual void lost(uint32_t, int) {}
};

}  // namespace nagaya::delegatee
