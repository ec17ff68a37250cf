// SPDX-License-Identifier: BSD-3-Clause
// matcher_receive.cc - receives and probes: what has come for them, and how it is delivered.
#include <errno.h>

#include <cstring>

#include "match/finish.h"
#include "match/matcher.h"

namespace nagaya::match {
namespace {

constexpr int kMessagesPerReceive = 2;  // so that who posts many catches up with who sends

void describe(const Incoming& incoming, nagaya_message_description* out) {
  *out = {incoming.cell.envelope, incoming.bytes()};
}

// What a rendezvous of the own node announces.
Buffer data_of(const Cell& cell) {
  const auto& there = cell.rendezvous;
  if (there.is_in_runs != 0)
    return {nullptr, there.bytes, static_cast<const nagaya_runs*>(there.data)};
  return {there.data, there.bytes, nullptr};
}

// Runs go by way of a portion that stays in the first cache.
void scatter(nagaya_receive& receive, const Buffer& from, size_t bytes) {
  if (from.is_one_run()) return receive.scatter(&receive, from.data(), bytes);
  std::byte portion[16 << 10];
  Place place(from.runs());
  while (bytes != 0) {
    const size_t next = std::min(bytes, sizeof portion);
    copy(Place(Buffer(portion, next, nullptr).runs()), place, next);
    receive.scatter(&receive, portion, next);
    if (bytes -= next; bytes != 0) place.advance(next);
  }
}

Envelope envelope_of(const mailbox::Message& message) {
  Envelope envelope;
  std::memcpy(&envelope, message.payload, sizeof envelope);
  return envelope;
}
bool is_short(const mailbox::Message& message) {
  const auto kind = static_cast<CellKind>(message.kind);
  return kind == CellKind::kInline || kind == CellKind::kEager;
}

}  // namespace

int Matcher::receive(nagaya_receive& receive) {
  receive.is_complete = 0;
  Incoming incoming;
  if (find_or_post(receive, incoming)) {
    waits_.found();
    deliver(incoming, receive);
    return 0;
  }
  // With threads the caller may hold a lock that the others' complete functions take (Open MPI's
  // coll/adapt).
  for (int count = 0; !locks_ && count < kMessagesPerReceive; ++count) {
    nagaya_receive* const posted = take_along(incoming);
    if (posted == nullptr) break;
    waits_.found();
    deliver(incoming, *posted);
  }
  return 0;
}

// What has come for it. False: it is posted.
bool Matcher::find_or_post(nagaya_receive& receive, Incoming& incoming) {
  const Turn turn(*this);
  if (Unexpected* const message = unexpected_.first(receive.wanted); message != nullptr) {
    unexpected_.leave(*message);
    incoming = message->incoming;
    delete message;
  } else if (!take_own(receive.wanted, incoming)) {
    posted_.enter(receive);
    expect(receive.from);
    return false;
  }
  receive.member.whole = nullptr;
  return true;
}

// The next short message, if it is for this receive, and none is posted that it may be for.
bool Matcher::take_own(const Envelope& wanted, Incoming& incoming) {
  if (!posted_.empty()) return false;
  const mailbox::Message message = mailbox_.take_if([&](const mailbox::Message& next) {
    return is_short(next) && matches(wanted, envelope_of(next));
  });
  if (message) incoming.copy_from(message);
  return static_cast<bool>(message);
}

// The posted receive that the next message is for, if that is a short one (nobody waits here for
// the copy of a long one); nullptr: none. Allocates nothing.
nagaya_receive* Matcher::take_along(Incoming& incoming) {
  const Turn turn(*this);
  nagaya_receive* receive = nullptr;
  const mailbox::Message message = mailbox_.take_if([&](const mailbox::Message& next) {
    if (is_short(next)) receive = posted_.take(envelope_of(next));
    return receive != nullptr;
  });
  if (message) incoming.copy_from(message);
  return receive;
}

int Matcher::cancel(nagaya_receive& receive) {
  const Turn turn(*this);
  if (!Posted::has(receive)) return -EALREADY;
  posted_.leave(receive);
  return 0;
}

int Matcher::probe(const Envelope& wanted, nagaya_message_description* out) {
  const Turn turn(*this);
  const Unexpected* const message = unexpected_.first(wanted);
  if (message == nullptr) return -EAGAIN;
  describe(message->incoming, out);
  return 0;
}

int Matcher::take(const Envelope& wanted, nagaya_message_description* out,
                  nagaya_message** message) {
  const Turn turn(*this);
  Unexpected* const found = unexpected_.first(wanted);
  if (found == nullptr) return -EAGAIN;
  unexpected_.leave(*found);
  describe(found->incoming, out);
  *message = reinterpret_cast<nagaya_message*>(found);
  return 0;
}

int Matcher::receive_taken(nagaya_message* message, nagaya_receive& receive) {
  const std::unique_ptr<Unexpected> taken(reinterpret_cast<Unexpected*>(message));
  receive.is_complete = 0;
  receive.member.whole = nullptr;
  deliver(taken->incoming, receive);
  return 0;
}

// `peer`: the task that waits for it, or the own one.
void Matcher::store(nagaya_receive& receive, const Buffer& from, uint32_t peer) {
  const size_t stored = std::min(receive.bytes, receive.capacity);
  if (receive.scatter != nullptr) return scatter(receive, from, stored);
  const Buffer to(receive.buffer, receive.capacity, receive.runs);
  const llcl::Layouts layouts{to.runs(), from.runs()};
  const bool is_one_run = to.is_one_run() && from.is_one_run();
  if (is_one_run && stored <= kInlineMaxBytes) {  // the way to offer a copy costs more than it
    std::memmove(to.data(), from.data(), stored);
    return;
  }
  board_.copies->copy({to.data(), from.data(), stored, peer, is_one_run ? nullptr : &layouts},
                      self_, llcl::BoardTasks{board_});
}

// To whom a rendezvous or a cancel has come from.
void Matcher::answer(const Cell& asked, CellKind kind) {
  outbox_.settle();
  Cell cell{};
  cell.answer = {asked.rendezvous.send};
  post_or_wait(asked.rendezvous.sender, kind, cell);
}

void Matcher::deliver(const Incoming& incoming, nagaya_receive& receive) {
  const Cell& cell = incoming.cell;
  receive.matched = cell.envelope;
  receive.bytes = incoming.bytes();
  receive.error = receive.bytes > receive.capacity ? -EMSGSIZE : 0;
  switch (incoming.kind) {
    case CellKind::kInline:
      store(receive, {cell.body, receive.bytes, nullptr}, self_.number());
      break;
    case CellKind::kEager:
      store(receive, {cell.eager.loan.data, receive.bytes, nullptr}, self_.number());
      cell.eager.loan.give_back();
      break;
    case CellKind::kRendezvous:
      if (!is_own_node(cell.rendezvous.sender)) return read(cell, receive);
      store(receive, data_of(cell), cell.rendezvous.sender.task);
      {
        const Turn turn(*this);
        answer(cell, CellKind::kCopied);  // the sender's buffer is its own again
      }
      break;
    default:
      break;
  }
  finish(receive);
}

}  // namespace nagaya::match
