// SPDX-License-Identifier: BSD-3-Clause
// envelope.h - the fields that two-sided messages are matched by, with MPI's wildcards.
#pragma once

#include "nagaya/match.h"

namespace nagaya::match {

using Envelope = nagaya_envelope;

inline bool operator==(const Envelope& a, const Envelope& b) {
  return a.context == b.context && a.source == b.source && a.tag == b.tag;
}

inline bool is_same(nagaya_process a, nagaya_process b) {
  return a.node == b.node && a.task == b.task;
}

// The class of a receive says which fields it leaves open: bit 0 the source, bit 1 the tag.
inline constexpr unsigned kReceiveClasses = 4;
inline unsigned class_of(const Envelope& wanted) {
  return unsigned{wanted.source == NAGAYA_ANY_SOURCE} | unsigned{wanted.tag == NAGAYA_ANY_TAG} << 1;
}
// Returns the envelope with a wildcard in each field that a receive of that class leaves open.
inline Envelope with_wildcards_of(unsigned receive_class, Envelope envelope) {
  if ((receive_class & 1) != 0) envelope.source = NAGAYA_ANY_SOURCE;
  if ((receive_class & 2) != 0) envelope.tag = NAGAYA_ANY_TAG;
  return envelope;
}
// Negative tags are an MPI's own traffic, which NAGAYA_ANY_TAG does not match.
inline bool may_match(unsigned receive_class, const Envelope& envelope) {
  return (receive_class & 2) == 0 || envelope.tag >= 0;
}
inline bool matches(const Envelope& wanted, const Envelope& envelope) {
  const unsigned receive_class = class_of(wanted);
  return may_match(receive_class, envelope) && with_wildcards_of(receive_class, envelope) == wanted;
}

}  // namespace nagaya::match
