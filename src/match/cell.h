// SPDX-License-Identifier: BSD-3-Clause
// cell.h - what travels through the mailboxes for two-sided messages. Plain data, 56 bytes.
//
//   sender                                   receiver
//   kInline      body in the cell       ──►  copies it
//   kEager       body in a block of its ──►  copies it when it is matched, and gives the block back
//   kRendezvous  body in its buffer     ──►  copies it when it is matched, then answers
//                                       ◄──  kCopied
//   kCancel      the message once more  ──►  forgets it if it is not matched yet, and answers
//                                       ◄──  kCancelled or, too late, kKept
//
// To another node they travel by messages that begin with the same header: remote.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "llcl/message.h"
#include "match/envelope.h"

namespace nagaya::match {

enum class CellKind : uint8_t {
  kInline,
  kEager,
  kRendezvous,
  kCopied,
  kCancel,
  kCancelled,
  kKept,
  kFromRemote = static_cast<uint8_t>(llcl::MessageKind::kTwoSided),
};

// A block of the sender's pool (eager_pool.h), lent to the receiver.
struct Loan {
  std::byte* data;
  std::atomic<uint32_t>* returned;  // becomes `serial`, by release, when it is given back
  uint32_t serial;

  void give_back() const { returned->store(serial, std::memory_order_release); }
};

inline constexpr size_t kInlineMaxBytes =
    mailbox::kMessageMaxBytes - sizeof(Envelope) - sizeof(uint32_t);

struct Cell {
  Envelope envelope;  // of the message; not in answers
  uint32_t serial;    // of the sender's messages: with the envelope it names one
  union {
    std::byte body[kInlineMaxBytes];
    struct {
      uint64_t bytes;
      Loan loan;
    } eager;
    struct {
      uint64_t bytes;
      const void* data;  // for receivers of the same node: the body, or the nagaya_runs of it
      uint64_t send;     // the sender's handle of its request, which answers repeat
      nagaya_process sender;
      uint32_t region;  // of `data`, for other nodes
      uint32_t is_in_runs;
    } rendezvous;  // kCancel: `send` and `sender`
    struct {
      uint64_t send;
    } answer;
  };
};
static_assert(sizeof(Cell) == mailbox::kMessageMaxBytes);
inline constexpr size_t kHeaderBytes = offsetof(Cell, body);

constexpr bool is_answer(CellKind kind) {
  return kind == CellKind::kCopied || kind == CellKind::kCancelled || kind == CellKind::kKept;
}
// The size of a cell without a body of its own. [bytes]
constexpr size_t bytes_of(CellKind kind) {
  return is_answer(kind) ? offsetof(Cell, answer) + sizeof(Cell::answer) : sizeof(Cell);
}

// A cell that has been taken out of the mailbox.
struct Incoming {
  Cell cell;
  CellKind kind;
  uint8_t cell_bytes;

  // Of a task of this node; those of others: remote.h.
  void copy_from(const mailbox::Message& message) {
    kind = static_cast<CellKind>(message.kind);
    cell_bytes = message.bytes;
    std::memcpy(&cell, message.payload, sizeof cell);
  }
  size_t bytes() const {
    if (kind == CellKind::kEager) return cell.eager.bytes;
    if (kind == CellKind::kRendezvous) return cell.rendezvous.bytes;
    return cell_bytes - kHeaderBytes;
  }
};

}  // namespace nagaya::match
