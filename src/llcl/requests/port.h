// SPDX-License-Identifier: BSD-3-Clause
// port.h - an ordered inbox of a task, which also posts to the ports of all other tasks. Its users
// need not know whether a receiver is on this node or another.
//
//   post(to, kind, header, body)       its receiver's port                 take()
//   up to 40 bytes   ──────────────►  | header | body |                ──► copy
//   longer           ──► a block  ──► | header | loan |                ──► copy, give_back()
//   post_with_source  ─────────────►  | header | source | body |       ──► copy
//
// A post that finds no room returns -EAGAIN and changes nothing: the user keeps the message, and
// must keep the order of its messages.
// Order: messages of one port to another arrive in the order in which they were posted.
// Thread safety: none. The user calls from one thread at a time, because messages of several
// threads must keep their order. Death of a receiver: its loans do not come back; its job ends (law
// 4). Death of the owner: its blocks stay until the job has ended (law 3).
#pragma once

#include <errno.h>

#include <algorithm>
#include <cstring>

#include "layout/runs.h"
#include "llcl/board/board.h"
#include "llcl/board/command.h"
#include "llcl/board/port_cell.h"
#include "llcl/requests/block_pool.h"
#include "llcl/requests/remote_nodes.h"
#include "llcl/requests/wait.h"

namespace nagaya::llcl {

class Port {
 public:
  // `eager_max_bytes`: the longest eager body to a task of this node [bytes]. Between nodes a
  // rendezvous takes several trips and an eager message one: there bodies of up to sixteen times
  // `eager_max_bytes` are eager, but at most kRemoteEagerMaxBytes.
  static constexpr size_t kRemoteEagerMaxBytes = 64 << 10;
  static constexpr size_t kControlMaxBytes = 4 << 10;

  Port(Board& board, mailbox::Owner self, size_t eager_max_bytes, Wait& waits,
       RemoteNodes& remote_nodes)
      : board_(board),
        self_(self),
        inbox_(board.ports[self.number()]),
        waits_(waits),
        remote_nodes_(remote_nodes),
        eager_max_bytes_(eager_max_bytes),
        remote_eager_max_bytes_(
            std::max(eager_max_bytes, std::min(16 * eager_max_bytes, kRemoteEagerMaxBytes))),
        pool_(sizeof(PortHeader) + std::max(eager_max_bytes, kControlMaxBytes), kPoolBytes),
        remote_pool_(sizeof(PortHeader) + std::max(remote_eager_max_bytes_, kControlMaxBytes),
                     kRemotePoolBytes) {}
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  nagaya_process own_process() const {
    return {board_.node.load(std::memory_order_relaxed), self_.number()};
  }
  // Returns whether the task takes part (this node) or may take part (another node). Acquire: pairs
  // with the other endpoint's constructor.
  bool may_reach(nagaya_process to) const {
    if (!is_here(to)) return remote_nodes_.has(to);
    return to.task < board_.capacity &&
           board_.attached[to.task].load(std::memory_order_acquire) != 0;
  }
  size_t eager_max_bytes(nagaya_process to) const {
    return is_here(to) ? eager_max_bytes_ : remote_eager_max_bytes_;
  }
  // Returns whether a message with a body of `bytes` may be eager. To a process of another node
  // that has a backlog no message may, so that the messages that its node holds for it stay
  // bounded.
  bool may_be_eager(nagaya_process to, size_t bytes) const {
    return bytes <= eager_max_bytes(to) && (is_here(to) || !remote_nodes_.has_backlog(to));
  }

  // Content of a body: it says where data go (control), or is the user's data.
  enum class Body : uint8_t { kControl, kData };

  // Posts `bytes` of the body, at most eager_max_bytes(to), or kControlMaxBytes of control. The
  // caller may reuse the body on return. Returns 0, -EAGAIN (no room just now), -ENOBUFS (too many
  // loans are out, or no lane). May throw std::bad_alloc.
  int post(nagaya_process to, uint8_t kind, const PortHeader& header, const layout::Buffer& body,
           size_t bytes, Body what) {
    const int error = is_here(to) ? post_here(to, kind, header, body, bytes)
                                  : post_remote(to, kind, header, body, bytes, what);
    if (error == 0 && what == Body::kData) count(board_, self_, &TaskActivity::copied_bytes, bytes);
    return error;
  }
  // Posts a message that names its sender, with up to kControlMaxBytes of control data. Returns and
  // throws as post().
  int post_with_source(nagaya_process to, uint8_t kind, const PortHeader& header,
                       const layout::Buffer& body, size_t bytes) {
    if (!is_here(to)) return post_remote(to, kind, header, body, bytes, Body::kControl);
    if (bytes > kNoteMaxBytes) return post_lent(to, kind, header, body, bytes);
    PortCell cell;
    cell.header = header;
    cell.sourced.source = own_process();
    layout::gather(body, cell.sourced.body, bytes);
    return post_cell(to, kind, Form::kNote, cell, Incoming::kNoteHeadBytes + bytes);
  }

  // Takes the next message. False: there is none.
  bool take(Incoming& out) {
    const mailbox::Message message = inbox_.take();
    if (message) out.copy_from(message);
    return static_cast<bool>(message);
  }
  // Takes the next message if it is the next in posting order, of this node, and is_it(kind,
  // header) accepts it. False: nothing is taken.
  template <class Predicate>
  bool take_if(Predicate is_it, Incoming& out) {
    const mailbox::Message message = inbox_.take_if([&](const mailbox::Message& next) {
      PortHeader header;
      std::memcpy(&header, next.payload, sizeof header);
      return is_it(static_cast<uint8_t>(next.kind & (kPortKindsMax - 1)), header);
    });
    if (message) out.copy_from(message);
    return static_cast<bool>(message);
  }
  // Drops a taken message that no user of a port can have sent, because another node has forged it:
  // gives back its body and counts it in Board::dropped.
  void drop_forged(const Incoming& message) {
    message.give_back();
    board_.dropped.fetch_add(1, std::memory_order_relaxed);
  }

  // Returns whether the message that is next in posting order has arrived.
  bool has_next() {
    bool is_there = false;
    inbox_.take_if([&](const mailbox::Message&) {
      is_there = true;
      return false;
    });
    return is_there;
  }

  // The caller expects the next message, or an answer, from that process. If it is a task of this
  // node, a waiting thread may spin while that task is running (Wait::set_partner).
  void set_partner(nagaya_process from) {
    const bool runs_here =
        is_here(from) && from.task < board_.capacity && from.task != self_.number();
    waits_.set_partner(runs_here ? from.task : Wait::kNobody);
  }
  // Asks posters to ring. Returns how long a thread may sleep [ns].
  uint64_t before_sleep() { return inbox_.before_sleep(); }
  void after_sleep() { inbox_.after_sleep(); }

 private:
  // Limits of the blocks that may be lent at once [bytes].
  static constexpr size_t kPoolBytes = 64 << 20, kRemotePoolBytes = 2 << 20;

  bool is_here(nagaya_process process) const {
    return process.node == board_.node.load(std::memory_order_relaxed);
  }
  int post_cell(nagaya_process to, uint8_t kind, Form form, const PortCell& cell, size_t bytes) {
    return board_.ports[to.task].post(self_, kind | static_cast<uint8_t>(form), &cell, bytes);
  }
  int post_here(nagaya_process to, uint8_t kind, const PortHeader& header,
                const layout::Buffer& body, size_t bytes) {
    if (bytes > kShortMaxBytes) return post_lent(to, kind, header, body, bytes);
    PortCell cell;
    cell.header = header;
    layout::gather(body, cell.body, bytes);
    return post_cell(to, kind, Form::kShort, cell, sizeof header + bytes);
  }
  int post_lent(nagaya_process to, uint8_t kind, const PortHeader& header,
                const layout::Buffer& body, size_t bytes) {
    PortCell cell;
    cell.header = header;
    PortCell::Lent& lent = cell.sourced.lent;
    if (!pool_.take(lent.loan)) return -ENOBUFS;
    lent.bytes = bytes;
    cell.sourced.source = own_process();
    layout::gather(body, lent.loan.data, bytes);
    const int error = post_cell(to, kind, Form::kLent, cell, sizeof cell);
    if (error != 0) lent.loan.give_back();
    return error;
  }
  int post_remote(nagaya_process to, uint8_t kind, const PortHeader& header,
                  const layout::Buffer& body, size_t bytes, Body what) {
    const size_t all_bytes = sizeof header + bytes;
    const size_t data_bytes = what == Body::kData ? bytes : 0;
    const auto write = [&](std::byte* message) {
      std::memcpy(message, &header, sizeof header);
      layout::gather(body, message + sizeof header, bytes);
    };
    if (all_bytes <= kInlineMaxBytes) {
      std::byte message[kInlineMaxBytes];
      write(message);
      return remote_nodes_.send(to, kind, message, all_bytes, data_bytes, nullptr);
    }
    Loan block;
    BlockPool& pool = all_bytes <= pool_.block_bytes() ? pool_ : remote_pool_;
    if (!pool.take_for_flag(block)) return -EAGAIN;
    write(block.data);
    const int error =
        remote_nodes_.send(to, kind, block.data, all_bytes, data_bytes, block.returned);
    if (error != 0) block.give_back();
    return error;
  }

  Board& board_;
  const mailbox::Owner self_;
  mailbox::Mailbox& inbox_;
  Wait& waits_;
  RemoteNodes& remote_nodes_;
  const size_t eager_max_bytes_, remote_eager_max_bytes_;
  BlockPool pool_;
  BlockPool remote_pool_;  // for bodies that are longer than those of this node
};

}  // namespace nagaya::llcl
