// SPDX-License-Identifier: BSD-3-Clause
// cell.h - the cells of two-sided messages, sent to the ports of others (llcl/requests/port.h).
//
//   sender                                          receiver
//   kMessage      the body                     ──►  copies it when it is matched
//   kRendezvous   where the body is (a Source, ──►  pulls it when it is matched, then answers
//                 and for other nodes a Layout)
//                                              ◄──  kCopied
//   kCancel       the message once more        ──►  forgets it if not matched yet, and answers
//                                              ◄──  kCancelled or, too late, kNotCancelled
#pragma once

#include <bit>
#include <cstring>
#include <span>

#include "llcl/board/port_cell.h"
#include "llcl/requests/pull.h"
#include "match/envelope.h"

namespace nagaya::match {

enum class Kind : uint8_t { kMessage, kRendezvous, kCopied, kCancel, kCancelled, kNotCancelled };

struct Header {
  Envelope envelope;  // of the message; unused in answers
  uint32_t serial;    // the message's number at its sender: with the envelope it names one
};

// Body of kRendezvous. For a receiver on another node the data's Layout follows it.
struct Rendezvous {
  llcl::Source source;
  uint64_t send_handle;  // the sender's handle of its request, which answers repeat
};
struct Handle {  // body of kCancel and of the answers
  uint64_t send_handle;
};

inline llcl::PortHeader port_header(const Header& header) {
  return std::bit_cast<llcl::PortHeader>(header);
}

// A message that has been taken out of the port.
struct Incoming : llcl::Incoming {
  Kind kind() const { return static_cast<Kind>(llcl::Incoming::kind()); }
  Header header() const { return std::bit_cast<Header>(cell.header); }
  Envelope envelope() const { return header().envelope; }
  Rendezvous rendezvous() const { return body_as<Rendezvous>(); }
  std::span<const std::byte> layout() const {  // of a rendezvous
    return {body() + sizeof(Rendezvous), bytes() - sizeof(Rendezvous)};
  }
  uint64_t send_handle() const {
    return kind() == Kind::kRendezvous ? rendezvous().send_handle : body_as<Handle>().send_handle;
  }
  // Size of the message that this cell carries or announces [bytes].
  size_t message_bytes() const {
    return kind() == Kind::kRendezvous ? rendezvous().source.bytes : bytes();
  }
  // Whether the cell has the form and the size of its kind: another node can send anything.
  bool is_sound() const {
    switch (kind()) {
      case Kind::kMessage:
        return true;
      case Kind::kRendezvous:
        return has_source() && bytes() >= sizeof(Rendezvous) &&
               layout().size() % sizeof(nagaya_runs) == 0 &&
               layout().size() / sizeof(nagaya_runs) <= llcl::kLayoutMaxRuns;
      case Kind::kCopied:
      case Kind::kCancel:
      case Kind::kCancelled:
      case Kind::kNotCancelled:
        return form() == llcl::Form::kNote && bytes() == sizeof(Handle);
    }
    return false;
  }

 private:
  template <class Body>
  Body body_as() const {
    Body copy;
    std::memcpy(&copy, body(), sizeof copy);
    return copy;
  }
};

}  // namespace nagaya::match
