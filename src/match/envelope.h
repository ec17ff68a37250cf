// SPDX-License-Identifier: BSD-3-Clause
// envelope.h - the fields that two-sided messages are matched by, with MPI's wildcards.
#pragma once

#include "nagaya/match.h"

namespace nagaya::match {

using Envelope = nagaya_envelope;

inline bool operator==(const Envelope& a, const Envelope& b) {
  return a.context == b.context && a.source == b.source && a.tag == b.tag;
}

// The class of a receive says which fields it leaves open: bit 0 the source, bit 1 the tag.
inline constexpr unsigned kClasses = 4;
inline unsigned class_of(const Envelope& wanted) {
  return unsigned{wanted.source == NAGAYA_ANY_SOURCE} | unsigned{wanted.tag == NAGAYA_ANY_TAG} << 1;
}
// Returns the envelope with a wildcard in each field that a receive of class `wanting` leaves open.
inline Envelope as_wanted_by(unsigned wanting, Envelope envelope) {
  if ((wanting & 1) != 0) envelope.source = NAGAYA_ANY_SOURCE;
  if ((wanting & 2) != 0) envelope.tag = NAGAYA_ANY_TAG;
  return envelope;
}
// Negative tags are an MPI's own traffic, which NAGAYA_ANY_TAG does not match.
inline bool can_match(unsigned wanting, const Envelope& envelope) {
  return (wanting & 2) == 0 || envelope.tag >= 0;
}
inline bool matches(const Envelope& wanted, const Envelope& envelope) {
  const unsigned wanting = class_of(wanted);
  return can_match(wanting, envelope) && as_wanted_by(wanting, envelope) == wanted;
}

}  // namespace nagaya::match
