// SPDX-License-Identifier: BSD-3-Clause
// port_cell.h - the messages of ports (port.h): plain data of 56 bytes. A task of this node and the
// node's delegatee post them in the same format.
//
//   Form
//   kShort   | header | body, up to 40 bytes                       |  of a task of this node
//   kNote    | header | source | body, up to 32 bytes              |
//   kLent    | header | source | bytes | loan of a longer body     |
//
// A message to another node is its header, followed by its body. The delegatee there posts it as
// kNote, or as kLent, which lends the body (board_node.cc).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mailbox/mailbox.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

// The beginning of every message. Its content belongs to the port's user.
struct PortHeader {
  uint32_t words[4];
};

// A block of memory, lent to the reader of a message.
struct Loan {
  std::byte* data;
  std::atomic<uint32_t>* returned;  // becomes `serial`, by release, when it is given back
  uint32_t serial;

  void give_back() const { returned->store(serial, std::memory_order_release); }
};

inline constexpr size_t kShortMaxBytes = mailbox::kMessageMaxBytes - sizeof(PortHeader);
inline constexpr size_t kNoteMaxBytes = kShortMaxBytes - sizeof(nagaya_process);

struct PortCell {
  struct Lent {
    uint64_t bytes;
    Loan loan;
  };
  struct Sourced {
    nagaya_process source;
    union {
      std::byte body[kNoteMaxBytes];
      Lent lent;
    };
  };

  PortHeader header;
  union {
    std::byte body[kShortMaxBytes];
    Sourced sourced;
  };
};
static_assert(sizeof(PortCell) == mailbox::kMessageMaxBytes);

// A message's kind in its mailbox is the form in the upper two bits, the user's kind in the lower.
enum class Form : uint8_t { kShort = 0, kNote = 1 << 6, kLent = 2 << 6 };
inline constexpr uint8_t kPortKindsMax = 1 << 6;

// Handlers of active messages have smaller numbers. A message of another node with the handler
// kPortHandlers + kind is for its receiver's port.
inline constexpr uint32_t kPortHandlers = 256;

// Returns whether a message of another node with these fields is valid for a port.
inline bool is_port_message(uint32_t handler, uint64_t bytes) {
  return handler - kPortHandlers < kPortKindsMax && bytes >= sizeof(PortHeader);
}

// A cell that has been taken out of a mailbox.
struct Incoming {
  PortCell cell;
  uint8_t kind_and_form;
  uint8_t cell_bytes;

  void copy_from(const mailbox::Message& message) {
    kind_and_form = message.kind;
    cell_bytes = message.bytes;
    std::memcpy(&cell, message.payload, sizeof cell);
  }
  // Returns the cell for a message of another node. If `longer` is nullptr, the cell is a note with
  // the body. Else the cell lends the body, and the reader gives it back by a 1 in `longer`.
  static Incoming from_elsewhere(uint8_t kind, nagaya_process source, const std::byte* message,
                                 uint64_t bytes, std::atomic<uint32_t>* longer) {
    Incoming incoming{};
    const uint64_t body_bytes = bytes - sizeof(PortHeader);
    std::memcpy(&incoming.cell.header, message, sizeof(PortHeader));
    incoming.cell.sourced.source = source;
    const std::byte* const body = message + sizeof(PortHeader);
    if (longer != nullptr) {
      incoming.cell.sourced.lent = {body_bytes, {const_cast<std::byte*>(body), longer, 1}};
      incoming.kind_and_form = kind | static_cast<uint8_t>(Form::kLent);
      incoming.cell_bytes = sizeof(PortCell);
    } else {
      std::memcpy(incoming.cell.sourced.body, body, body_bytes);
      incoming.kind_and_form = kind | static_cast<uint8_t>(Form::kNote);
      incoming.cell_bytes = static_cast<uint8_t>(kNoteHeadBytes + body_bytes);
    }
    return incoming;
  }

  static constexpr size_t kNoteHeadBytes = sizeof(PortHeader) + sizeof(nagaya_process);

  Form form() const { return static_cast<Form>(kind_and_form & ~(kPortKindsMax - 1)); }
  uint8_t kind() const { return kind_and_form & (kPortKindsMax - 1); }
  bool has_source() const { return form() != Form::kShort; }
  nagaya_process source() const { return cell.sourced.source; }  // only if has_source()
  size_t bytes() const {                                         // of the body
    if (form() == Form::kLent) return cell.sourced.lent.bytes;
    return cell_bytes - (form() == Form::kShort ? sizeof(PortHeader) : kNoteHeadBytes);
  }
  const std::byte* body() const {
    if (form() == Form::kLent) return cell.sourced.lent.loan.data;
    return form() == Form::kShort ? cell.body : cell.sourced.body;
  }
  // Gives a lent body back to its owner; does nothing if the body is in the cell.
  void give_back() const {
    if (form() == Form::kLent) cell.sourced.lent.loan.give_back();
  }
};

}  // namespace nagaya::llcl
