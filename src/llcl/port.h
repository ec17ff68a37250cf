// SPDX-License-Identifier: BSD-3-Clause
// port.h - an ordered inbox of a task, and the way to those of all others, on this node or another:
// the same to its users.
//
//   post(to, kind, header, body)       its receiver's port                 take()
//   up to 40 bytes   ──────────────►  | header | body |                ──► copy
//   longer           ──► a block  ──► | header | loan |                ──► copy, give_back()
//   note(...)        ──────────────►  | header | source | body |       ──► copy
//
// Posts that find no room answer -EAGAIN, and nothing has happened: the user keeps the message, and
// the order of its messages.
// Order: messages of one port to another arrive in the order in which they were posted.
// Thread safety: none; its user serialises (messages of several threads must keep their order).
// Death of a receiver: its loans do not come back; its job ends (law 4). Death of the owner: its
// blocks stay until the job has ended (law 3).
#pragma once

#include <errno.h>

#include <algorithm>
#include <cstring>

#include "layout/runs.h"
#include "llcl/block_pool.h"
#include "llcl/board.h"
#include "llcl/command.h"
#include "llcl/elsewhere.h"
#include "llcl/port_cell.h"
#include "llcl/wait.h"

namespace nagaya::llcl {

class Port {
 public:
  // `longest`: of a body that is handed over at once, to a task of this node. To another node a
  // rendezvous goes several ways there and back, where a message goes one: there bodies of sixteen
  // times that are handed over, up to kLongestElsewhere.                                   [bytes]
  static constexpr size_t kLongestElsewhere = 64 << 10;
  static constexpr size_t kLongestNote = 4 << 10;  // [bytes]

  Port(Board& board, mailbox::Owner self, size_t longest, Wait& waits, Elsewhere& elsewhere)
      : board_(board),
        self_(self),
        inbox_(board.ports[self.number()]),
        waits_(waits),
        elsewhere_(elsewhere),
        longest_(longest),
        longest_elsewhere_(std::max(longest, std::min(16 * longest, kLongestElsewhere))),
        pool_(sizeof(PortHeader) + std::max(longest, kLongestNote), kPoolBytes),
        pool_elsewhere_(sizeof(PortHeader) + std::max(longest_elsewhere_, kLongestNote),
                        kPoolElsewhereBytes) {}
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  nagaya_process own_process() const {
    return {board_.node.load(std::memory_order_relaxed), self_.number()};
  }
  // A task that takes part, or may. Acquire: pairs with the other endpoint's constructor.
  bool reaches(nagaya_process to) const {
    if (!is_here(to)) return elsewhere_.has(to);
    return to.task < board_.capacity &&
           board_.attached[to.task].load(std::memory_order_acquire) != 0;
  }
  size_t longest(nagaya_process to) const { return is_here(to) ? longest_ : longest_elsewhere_; }
  // Whether a message is handed over at once. To a process that does not keep up nothing is, so
  // that the messages that others hold for it stay bounded.
  bool takes(nagaya_process to, size_t bytes) const {
    return bytes <= longest(to) && (is_here(to) || !elsewhere_.has_backlog(to));
  }

  // A body says where data go (control), or is data of the user.
  enum class Body : uint8_t { kControl, kData };

  // `bytes` of the body, at most longest(to), or kLongestNote of control. It is the caller's again.
  // Returns 0, -EAGAIN (no room just now), -ENOBUFS (too many loans are out, or no lane). May throw
  // std::bad_alloc.
  int post(nagaya_process to, uint8_t kind, const PortHeader& header, const layout::Buffer& body,
           size_t bytes, Body what) {
    return is_here(to) ? post_here(to, kind, header, body, bytes)
                       : post_elsewhere(to, kind, header, body, bytes, what);
  }
  // A message that says from whom it comes, of up to kLongestNote, and control. Returns as post.
  int note(nagaya_process to, uint8_t kind, const PortHeader& header, const layout::Buffer& body,
           size_t bytes) {
    if (!is_here(to)) return post_elsewhere(to, kind, header, body, bytes, Body::kControl);
    if (bytes > kNoteMaxBytes) return post_lent(to, kind, header, body, bytes);
    PortCell cell;
    cell.header = header;
    cell.sourced.source = own_process();
    layout::gather(body, cell.sourced.body, bytes);
    return post_cell(to, kind, Form::kNote, cell, Incoming::kNoteHeadBytes + bytes);
  }

  // The next message. False: there is none.
  bool take(Incoming& out) {
    const mailbox::Message message = inbox_.take();
    if (message) out.copy_from(message);
    return static_cast<bool>(message);
  }
  // The same, if it is next in its order, of this node, and is_it(kind, header); else nothing is
  // taken.
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
  // Of a taken message that no user of this port has sent: another node has made it up.
  void refuse(const Incoming& message) {
    message.give_back();
    board_.dropped.fetch_add(1, std::memory_order_relaxed);
  }

  // Whether the next message in its order is there.
  bool has_next() {
    bool is_there = false;
    inbox_.take_if([&](const mailbox::Message&) {
      is_there = true;
      return false;
    });
    return is_there;
  }

  // The process will send something next, or answer: a thread that waits for it may go on beside
  // it.
  void expect(nagaya_process from) {
    const bool runs_here =
        is_here(from) && from.task < board_.capacity && from.task != self_.number();
    waits_.expect(runs_here ? from.task : Wait::kNobody);
  }
  // Asks posters to ring. How long a thread may sleep. [ns]
  uint64_t before_sleep() { return inbox_.before_sleep(); }
  void after_sleep() { inbox_.after_sleep(); }

 private:
  // So much may be lent at once. [bytes]
  static constexpr size_t kPoolBytes = 64 << 20, kPoolElsewhereBytes = 2 << 20;

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
  int post_elsewhere(nagaya_process to, uint8_t kind, const PortHeader& header,
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
      return elsewhere_.send(to, kind, message, all_bytes, data_bytes, nullptr);
    }
    Loan block;
    BlockPool& pool = all_bytes <= pool_.block_bytes() ? pool_ : pool_elsewhere_;
    if (!pool.take_for_flag(block)) return -EAGAIN;
    write(block.data);
    const int error = elsewhere_.send(to, kind, block.data, all_bytes, data_bytes, block.returned);
    if (error != 0) block.give_back();
    return error;
  }

  Board& board_;
  const mailbox::Owner self_;
  mailbox::Mailbox& inbox_;
  Wait& waits_;
  Elsewhere& elsewhere_;
  const size_t longest_, longest_elsewhere_;
  BlockPool pool_;
  BlockPool pool_elsewhere_;  // for bodies that are longer than those of this node
};

}  // namespace nagaya::llcl
