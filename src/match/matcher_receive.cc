// SPDX-License-Identifier: BSD-3-Clause
// matcher_receive.cc - receives and probes: matches them with arrived messages, and delivers the
// messages.
#include <errno.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "match/finish.h"
#include "match/matcher.h"

namespace nagaya::match {
namespace {

constexpr int kMessagesPerReceive = 2;  // so that a receiver catches up with a sender
// After kReceivesInVainMax receives that found no message for an earlier receive, only one receive
// in kReceivesPerPoll polls the port for one: polling an empty port takes a line from the sender
// that is about to write it.
constexpr uint32_t kReceivesInVainMax = 8, kReceivesPerPoll = 16;
constexpr int kPullRequestsPerCall = 16;  // requests tried in one call: all may be refused

void describe(const Incoming& incoming, nagaya_message_description* out) {
  *out = {incoming.envelope(), incoming.message_bytes()};
}

Envelope envelope_of(const llcl::PortHeader& header) {
  return std::bit_cast<Header>(header).envelope;
}
bool is_message(uint8_t kind) {
  return static_cast<Kind>(kind) == Kind::kMessage;
}

llcl::Sink sink_of(nagaya_receive& receive) {
  llcl::Sink sink{receive.buffer, receive.capacity, receive.runs, nullptr, &receive};
  if (receive.scatter != nullptr)
    sink.store = [](void* context, const void* data, size_t bytes) {
      auto* const receive = static_cast<nagaya_receive*>(context);
      receive->scatter(receive, data, bytes);
    };
  return sink;
}

}  // namespace

int Matcher::receive(nagaya_receive& receive) {
  receive.is_complete = 0;
  Incoming incoming;
  // With threads the caller may hold a lock that the `complete` functions of earlier receives take
  // (Open MPI's coll/adapt).
  const bool may_deliver_to_earlier = !has_threads_ && !posted_.empty();
  if (find_or_post(receive, incoming)) {
    waits_.found();
    deliver(incoming, receive);
  } else if (may_deliver_to_earlier) {
    deliver_to_earlier_receives();
  }
  return 0;
}

// Delivers up to kMessagesPerReceive arrived messages for receives that were posted before.
void Matcher::deliver_to_earlier_receives() {
  if (receives_in_vain_ >= kReceivesInVainMax && ++receives_in_vain_ % kReceivesPerPoll != 0)
    return;
  Incoming incoming;
  for (int count = 0; count < kMessagesPerReceive; ++count) {
    nagaya_receive* const posted = take_for_posted(incoming);
    if (posted == nullptr) {
      receives_in_vain_ += count == 0;
      return;
    }
    receives_in_vain_ = 0;
    waits_.found();
    deliver(incoming, *posted);
  }
}

// Takes the first message that has arrived for the receive. Returns false if there is none; then
// the receive is posted.
bool Matcher::find_or_post(nagaya_receive& receive, Incoming& incoming) {
  const auto lock = locked();
  if (Unexpected* const message = unexpected_.first(receive.wanted); message != nullptr) {
    unexpected_.leave(*message);
    incoming = message->incoming;
    delete message;
  } else if (!take_from_port(receive.wanted, incoming)) {
    posted_.enter(receive);
    port_.set_partner(receive.from);
    if (waits_.recorder().is_read()) [[unlikely]]
      waits_.recorder().expect(llcl::Purpose::kReceive, receive.from);
    return false;
  }
  receive.member.whole = nullptr;
  return true;
}

// Takes the port's next message if it is eager and matches `wanted`. Tries only while no receive is
// posted, because the message may be for an earlier one.
bool Matcher::take_from_port(const Envelope& wanted, Incoming& incoming) {
  return posted_.empty() && port_.take_if(
                                [&](uint8_t kind, const llcl::PortHeader& header) {
                                  return is_message(kind) && matches(wanted, envelope_of(header));
                                },
                                incoming);
}

// Takes the port's next message if it is eager and a posted receive matches it; returns that
// receive, else nullptr. Leaves a rendezvous, because its copy would delay the caller. Allocates
// nothing.
nagaya_receive* Matcher::take_for_posted(Incoming& incoming) {
  const auto lock = locked();
  nagaya_receive* receive = nullptr;
  port_.take_if(
      [&](uint8_t kind, const llcl::PortHeader& header) {
        if (is_message(kind)) receive = posted_.take(envelope_of(header));
        return receive != nullptr;
      },
      incoming);
  return receive;
}

int Matcher::cancel(nagaya_receive& receive) {
  const auto lock = locked();
  if (!PostedReceives::has(receive)) return -EALREADY;
  posted_.leave(receive);
  return 0;
}

int Matcher::probe(const Envelope& wanted, nagaya_message_description* out) {
  const auto lock = locked();
  const Unexpected* const message = unexpected_.first(wanted);
  if (message == nullptr) return -EAGAIN;
  describe(message->incoming, out);
  return 0;
}

int Matcher::take(const Envelope& wanted, nagaya_message_description* out,
                  nagaya_message** message) {
  const auto lock = locked();
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

// Sends `asker` the one answer that is owed to its rendezvous or cancel.
void Matcher::answer(nagaya_process asker, uint64_t send_handle, Kind kind) {
  outbox_.remove_owed_answer();
  post_or_wait({asker, kind, {}, send_handle});
}

void Matcher::deliver(const Incoming& incoming, nagaya_receive& receive) {
  receive.matched = incoming.envelope();
  receive.bytes = incoming.message_bytes();
  receive.error = receive.bytes > receive.capacity ? -EMSGSIZE : 0;
  if (waits_.recorder().is_read()) [[unlikely]]
    record_received(incoming);
  if (incoming.kind() == Kind::kRendezvous) return pull(incoming, receive);
  pulls_.store(sink_of(receive), incoming.body(), std::min(receive.bytes, receive.capacity));
  incoming.give_back();
  finish(receive);
}

// ---- long messages ------------------------------------------------------------------------------

void Matcher::pull(const Incoming& incoming, nagaya_receive& receive) {
  const nagaya_process sender = incoming.source();
  const Rendezvous rendezvous = incoming.rendezvous();
  llcl::Pull pull(pulls_, sender, rendezvous.source, sink_of(receive),
                  std::min(receive.bytes, receive.capacity));
  std::list<PendingPull> one;
  int error = 0;
  try {
    if (!pull.start(incoming.layout()))
      one.push_back({std::move(pull), sender, rendezvous.send_handle, receive});
    else
      error = pull.error();
  } catch (const std::bad_alloc&) {
    error = -ENOMEM;
  }
  incoming.give_back();
  if (!one.empty() && one.front().pull.advance()) {
    error = one.front().pull.error();
    one.clear();
  }
  if (one.empty()) return end_pull(sender, rendezvous.send_handle, receive, error);
  const auto lock = locked();
  add_pending_pull(one);
}

// In pending_pulls_, pulls that have requested a portion stand before those that have found no room
// yet.
void Matcher::add_pending_pull(std::list<PendingPull>& from) {
  const auto first = from.begin();
  pending_pulls_.splice(first->pull.is_requested() ? pending_pulls_.begin() : pending_pulls_.end(),
                        from, first);
}

// Tells the sender that its buffer is its own again, and completes the receive.
void Matcher::end_pull(nagaya_process sender, uint64_t send_handle, nagaya_receive& receive,
                       int error) {
  if (error != 0) receive.error = error;
  {
    const auto lock = locked();
    answer(sender, send_handle, Kind::kCopied);
  }
  finish(receive);
}

// Advances pending pulls outside of the lock. Returns how many portions had arrived.
int Matcher::progress_pulls() {
  std::list<PendingPull> ready;
  {
    const auto lock = locked();
    int unrequested = 0;
    for (auto at = pending_pulls_.begin();
         at != pending_pulls_.end() && unrequested < kPullRequestsPerCall;) {
      const auto one = at++;
      unrequested += !one->pull.is_requested();
      if (!one->pull.is_requested() || one->pull.has_arrived())
        ready.splice(ready.end(), pending_pulls_, one);
    }
  }
  int count = 0;
  while (!ready.empty()) {
    PendingPull& first = ready.front();
    count += first.pull.has_arrived();
    if (first.pull.advance()) {
      end_pull(first.sender, first.send_handle, first.receive, first.pull.error());
      ready.pop_front();
    } else {
      const auto lock = locked();
      add_pending_pull(ready);
    }
  }
  return count;
}

}  // namespace nagaya::match
