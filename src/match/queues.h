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

class PostedReceives {
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
    return std::ranges::all_of(indices_, [](const ReceiveIndex& index) { return index.empty(); });
  }
  // Whether the receive is still posted.
  static bool has(const nagaya_receive& receive) { return receive.member.whole != nullptr; }

  // Removes and returns the first posted receive that matches the envelope; nullptr: none.
  nagaya_receive* take(const Envelope& envelope) {
    nagaya_receive* first = nullptr;
    for (unsigned receive_class = 0; receive_class < kReceiveClasses; ++receive_class) {
      if (indices_[receive_class].empty() || !may_match(receive_class, envelope)) continue;
      const Member* const found =
          indices_[receive_class].first(with_wildcards_of(receive_class, envelope));
      if (found == nullptr) continue;
      nagaya_receive* const receive = receive_of(*found);
      if (first == nullptr || receive->order < first->order) first = receive;
    }
    if (first != nullptr) leave(*first);
    return first;
  }

 private:
  static nagaya_receive* receive_of(const Member& member) {
    return static_cast<nagaya_receive*>(member.whole);
  }
  static const Envelope& wanted_of(const Member& member) { return receive_of(member)->wanted; }
  using ReceiveIndex = Index<wanted_of>;
  ReceiveIndex& index_of(const nagaya_receive& receive) {
    return indices_[class_of(receive.wanted)];
  }

  std::array<ReceiveIndex, kReceiveClasses> indices_;
  uint64_t next_order_ = 0;
};

// A message that has arrived and that no receive has matched yet.
struct Unexpected {
  struct IndexEntry : Member {
    Envelope envelope;
  };

  std::array<IndexEntry, kReceiveClasses> members;
  Incoming incoming;
};

class UnexpectedQueue {
 public:
  void enter(Unexpected& message) {
    const Envelope envelope = message.incoming.envelope();
    for (unsigned receive_class = 0; receive_class < kReceiveClasses; ++receive_class) {
      if (!may_match(receive_class, envelope)) continue;
      Unexpected::IndexEntry& member = message.members[receive_class];
      member.envelope = with_wildcards_of(receive_class, envelope);
      member.whole = &message;
      indices_[receive_class].enter(member);
    }
  }
  void leave(Unexpected& message) {
    for (unsigned receive_class = 0; receive_class < kReceiveClasses; ++receive_class)
      if (may_match(receive_class, message.incoming.envelope()))
        indices_[receive_class].leave(message.members[receive_class]);
  }

  // Returns the first message that a receive of `wanted` matches, or nullptr.
  Unexpected* first(const Envelope& wanted) {
    MessageIndex& index = indices_[class_of(wanted)];
    return message_of(index.empty() ? nullptr : index.first(wanted));
  }
  // Returns the message of that envelope and serial number, or nullptr.
  Unexpected* find(const Envelope& envelope, uint32_t serial) {
    return message_of(indices_[0].first(envelope, [&](const Member& member) {
      return message_of(&member)->incoming.header().serial == serial;
    }));
  }
  // Calls function(message) for all messages. It may let that message leave, and no other.
  template <class Function>
  void for_each(Function function) {
    indices_[0].for_each([&](Member& member) { function(*message_of(&member)); });
  }

 private:
  static const Envelope& envelope_of(const Member& member) {
    return static_cast<const Unexpected::IndexEntry&>(member).envelope;
  }
  using MessageIndex = Index<envelope_of>;
  static Unexpected* message_of(const Member* member) {
    return member == nullptr ? nullptr : static_cast<Unexpected*>(member->whole);
  }
  std::array<MessageIndex, kReceiveClasses> indices_;
};

}  // namespace nagaya::match
