// SPDX-License-Identifier: BSD-3-Clause
// cell.h - what two-sided messages say to the ports of others (llcl/port.h).
//
//   sender                                          receiver
//   kMessage      the body                     ──►  copies it when it is matched
//   kRendezvous   where the body is (a Source) ──►  pulls it when it is matched, then answers
//                                              ◄──  kCopied
//   kCancel       the message once more        ──►  forgets it if it is not matched yet, and
//   answers
//                                              ◄──  kCancelled or, too late, kKept
#pragma once

#include <bit>
#include <cstring>

#include "llcl/port_cell.h"
#include "llcl/pull.h"
#include "match/envelope.h"

namespace nagaya::match {

enum class Kind : uint8_t { kMessage, kRendezvous, kCopied, kCancel, kCancelled, kKept };

struct Header {
  Envelope envelope;  // of the message; not in answers
  uint32_t serial;    // of the sender's messages: with the envelope it names one
};

// The bodies of notes.
struct Rendezvous {
  llcl::Source source;
  uint64_t send;  // the sender's handle of its request, which answers repeat
};
struct Handle {  // of kCancel and of the answers
  uint64_t send;
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
  uint64_t send() const {
    return kind() == Kind::kRendezvous ? rendezvous().send : body_as<Handle>().send;
  }
  // Of the message that it is or announces.
  size_t message_bytes() const {
    return kind() == Kind::kRendezvous ? rendezvous().source.bytes : bytes();
  }
  // Whether it has the form and the size of its kind: another node can say anything.
  bool is_sound() const {
    if (kind() == Kind::kMessage) return true;
    const bool is_rendezvous = kind() == Kind::kRendezvous;
    return kind() <= Kind::kKept && form() == llcl::Form::kNote &&
           bytes() == (is_rendezvous ? sizeof(Rendezvous) : sizeof(Handle));
  }

 private:
  template <class Body>
  Body body_as() const {
    Body body;
    std::memcpy(&body, cell.sourced.body, sizeof body);
    return body;
  }
};

}  // namespace nagaya::match
