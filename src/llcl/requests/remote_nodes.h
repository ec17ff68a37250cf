// SPDX-License-Identifier: BSD-3-Clause
// remote_nodes.h - the calls by which ports and pulls reach other nodes. In a task:
// remote_nodes_by_lane.h. In tests: nodes without a network.
//
//   sender                        delegatees                    receiver
//   | header | body | ──message──► ... ──► its port: a note, or a body that is lent
//   its buffer, a region  ◄───────── read ─────────────────────── pull
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nagaya/llcl.h"

namespace nagaya::llcl {

class RemoteNodes {
 public:
  virtual ~RemoteNodes() = default;

  // Returns whether there may be such a process on another node.
  virtual bool has(nagaya_process process) const = 0;
  // Sends a message to a port of another node. `done` (0 now) becomes 1, or a negative errno, when
  // `message` is no longer needed; nullptr: it is copied at once, and has at most kInlineMaxBytes.
  // Messages of one sender arrive in order.
  //   data_bytes   size of the user's data at the message's end, which on the way may be less
  //                protected than control data (delegatee/batch.h)
  // Returns 0, -EAGAIN (no room just now), -ENOBUFS.
  virtual int send(nagaya_process to, uint8_t kind, const std::byte* message, size_t bytes,
                   size_t data_bytes, std::atomic<uint32_t>* done) = 0;
  // Returns whether the process does not keep up with the messages that are sent to it.
  virtual bool has_backlog(nagaya_process process) const = 0;
  // Registers the caller's memory as `region`, which others may read. Returns 0, or -EAGAIN (too
  // many regions just now), -EINVAL, -ESRCH; with an error `region` is unchanged.
  virtual int share(const void* data, size_t bytes, uint32_t& region) = 0;
  virtual void unshare(uint32_t region) = 0;
  // Reads the memory that another task shares as `region`, from `offset` on. `done` (0 now) becomes
  // 1, or a negative errno. Returns 0, -EAGAIN (no room just now), -ENOBUFS.
  virtual int read(nagaya_process from, uint32_t region, uint64_t offset, void* to, size_t bytes,
                   std::atomic<uint32_t>& done) = 0;
  // Reads `pieces` of the memory that another task shares as `region`. The caller leaves the pieces
  // unchanged until `done` is not 0. Otherwise as read().
  virtual int read_pieces(nagaya_process from, uint32_t region,
                          std::span<const nagaya_llcl_piece> pieces,
                          std::atomic<uint32_t>& done) = 0;
};

}  // namespace nagaya::llcl
