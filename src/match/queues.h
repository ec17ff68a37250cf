// SPDX-License-Identifier: BSD-3-Clause
// queues.h - receives that wait for messages, and messages that wait for receives. Private to a
// task; its owner serialises.
//
//                 is in                         is found through
//   a receive     the index of its class        the message's envelope in each of four classes:
//                                               the receive of the four that was posted first
//   a message     the index of every class      the receive's envelope in its one class
//                 whose receives may match it
//
// So the cost of either search does not depend on how many wait.
#pragma once

#include <algorithm>
#include <array>

#include "match/cell.h"
#include "match/index.h"

namespace nagaya::match {

class Posted {
 public:
  void enter(nagaya_receive& receive) {
    receive.order = next_order_;
    receive.member.whole = &receive;
    index_of(receive).enter(receive.member);
    ++next_order_;
  }
  void leave(nagaya_receive& receive) {
    index_of(receive).leave(receive.member);
    receive.member.whole = nullptr;
  }
  bool empty() const {
    return std::ranges::all_of(indices_, [](const ByWanted& index) { return index.empty(); });
  }
  // Whether the receive is still posted.
  static bool has(const nagaya_receive& receive) { return receive.member.whole != nullptr; }

  // Removes and returns the first posted receive that matches the envelope; nullptr: none.
  nagaya_receive* take(const Envelope& envelope) {
    nagaya_receive* first = nullptr;
    for (unsigned wanting = 0; wanting < kClasses; ++wanting) {
      if (indices_[wanting].empty() || !can_match(wanting, envelope)) continue;
      const Member* const found = indices_[wanting].first(as_wanted_by(wanting, envelope));
      if (found == nullptr) continue;
      nagaya_receive* const receive = whole(*found);
      if (first == nullptr || receive->order < first->order) first = receive;
    }
    if (first != nullptr) leave(*first);
    return first;
  }

 private:
  static nagaya_receive* whole(const Member& member) {
    return static_cast<nagaya_receive*>(member.whole);
  }
  static const Envelope& wanted_by(const Member& member) { return whole(member)->wanted; }
  using ByWanted = Index<wanted_by>;
  ByWanted& index_of(const nagaya_receive& receive) { return indices_[class_of(receive.wanted)]; }

  std::array<ByWanted, kClasses> indices_;
  uint64_t next_order_ = 0;
};

// A message that has arrived and that no receive has matched yet.
struct Unexpected {
  struct AsWanted : Member {
    Envelope envelope;
  };

  std::array<AsWanted, kClasses> members;
  Incoming incoming;
};

class UnexpectedQueue {
 public:
  void enter(Unexpected& message) {
    const Envelope envelope = message.incoming.envelope();
    for (unsigned wanting = 0; wanting < kClasses; ++wanting) {
      if (!can_match(wanting, envelope)) continue;
      Unexpected::AsWanted& member = message.members[wanting];
      member.envelope = as_wanted_by(wanting, envelope);
      member.whole = &message;
      indices_[wanting].enter(member);
    }
  }
  void leave(Unexpected& message) {
    for (unsigned wanting = 0; wanting < kClasses; ++wanting)
      if (can_match(wanting, message.incoming.envelope()))
        indices_[wanting].leave(message.members[wanting]);
  }

  // Returns the first message that a receive of `wanted` matches, or nullptr.
  Unexpected* first(const Envelope& wanted) {
    Messages& index = indices_[class_of(wanted)];
    return whole(index.empty() ? nullptr : index.first(wanted));
  }
  // Returns the message of that envelope and serial number, or nullptr.
  Unexpected* find(const Envelope& envelope, uint32_t serial) {
    return whole(indices_[0].first(envelope, [&](const Member& member) {
      return whole(&member)->incoming.header().serial == serial;
    }));
  }
  // Calls function(message) for all messages. It may let that message leave, and no other.
  template <class Function>
  void for_each(Function function) {
    indices_[0].for_each([&](Member& member) { function(*whole(&member)); });
  }

 private:
  static const Envelope& envelope_of(const Member& member) {
    return static_cast<const Unexpected::AsWanted&>(member).envelope;
  }
  using Messages = Index<envelope_of>;
  static Unexpected* whole(const Member* member) {
    return member == nullptr ? nullptr : static_cast<Unexpected*>(member->whole);
  }
  std::array<Messages, kClasses> indices_;
};

}  // namespace nagaya::match
