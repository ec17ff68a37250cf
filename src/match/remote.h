// SPDX-License-Identifier: BSD-3-Clause
// remote.h - what a task's messages need of other nodes.
//
//   sender                        delegatees                    receiver
//   | header | body | ──message──► ... ──► its mailbox for two-sided messages: a cell of
//                                          kFromRemote that holds an llcl::ActiveMessage
//   its buffer  ◄─────────────────── read ────────────────────── for rendezvous
//
// A message begins with the first kHeaderBytes of its Cell. Those of one sender arrive in order.
#pragma once

#include <algorithm>
#include <cstring>

#include "match/cell.h"

namespace nagaya::match {

class Remote {
 public:
  virtual ~Remote() = default;

  // Whether the process may be one of another node.
  virtual bool has(nagaya_process process) const = 0;
  // `done` (0 now) becomes 1, or a negative errno, when `message` is no longer needed; nullptr: it
  // is copied at once, and has at most llcl::kInlineMaxBytes. Returns 0, -EAGAIN (no room just
  // now), -ENOBUFS.
  virtual int send(nagaya_process to, CellKind kind, const std::byte* message, size_t bytes,
                   std::atomic<uint32_t>* done) = 0;
  // Whether the process does not keep up with what is sent to it.
  virtual bool has_backlog(nagaya_process process) const = 0;
  // Lets others read the caller's memory. Returns 0, or -EAGAIN (too many regions just now),
  // -EINVAL, -ESRCH, and `region` is as it was.
  virtual int share(const void* data, size_t bytes, uint32_t& region) = 0;
  virtual void unshare(uint32_t region) = 0;
  // What another task shares, from `offset` on; `done` (0 now) becomes 1, or a negative errno.
  // Returns as send.
  virtual int read(nagaya_process from, uint32_t region, uint64_t offset, void* to, size_t bytes,
                   std::atomic<uint32_t>& done) = 0;
};

// Whether a message of another node has the kind and the size of one that is sent there. (A body in
// a block of the sender's pool is not: nothing but memory of this node is read by a pointer.)
inline bool can_come_from_elsewhere(CellKind kind, uint64_t bytes) {
  if (kind == CellKind::kInline) return bytes >= kHeaderBytes;
  const bool comes = kind == CellKind::kRendezvous || kind == CellKind::kCancel || is_answer(kind);
  return comes && bytes == bytes_of(kind);
}

// A cell of kFromRemote, as if its sender lived on this node; `source`: that process, as the
// delegatees know it. False: it is none that may come from there.
inline bool unpack(const mailbox::Message& message, Incoming& out, nagaya_process& source) {
  llcl::ActiveMessage active;
  std::memcpy(&active, message.payload, sizeof active);
  const bool is_longer = active.bytes > llcl::kInlineBodyMaxBytes;
  const std::byte* const whole = is_longer ? active.longer.address : active.body;
  source = {active.source_node, active.source_task};
  const uint32_t kind = active.handler - llcl::kTwoSidedHandlers;
  out.kind = static_cast<CellKind>(kind);
  bool is_sound = kind < static_cast<uint32_t>(CellKind::kFromRemote) &&
                  can_come_from_elsewhere(out.kind, active.bytes);
  if (is_sound && out.kind == CellKind::kInline && is_longer) {
    std::memcpy(&out.cell, whole, kHeaderBytes);
    out.kind = CellKind::kEager;
    // Who gives it back stores 1.
    out.cell.eager = {active.bytes - kHeaderBytes,
                      {const_cast<std::byte*>(whole) + kHeaderBytes, active.longer.done, 1}};
    return true;
  }
  if (is_sound) {
    out.cell_bytes = static_cast<uint8_t>(active.bytes);
    std::memcpy(&out.cell, whole, active.bytes);
    const nagaya_process sender = out.cell.rendezvous.sender;
    if (out.kind == CellKind::kRendezvous || out.kind == CellKind::kCancel)
      is_sound = sender.node == source.node && sender.task == source.task;
  }
  if (is_longer) active.longer.done->store(1, std::memory_order_release);  // as a Loan's
  return is_sound;
}

}  // namespace nagaya::match
