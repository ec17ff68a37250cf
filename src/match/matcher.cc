// SPDX-License-Identifier: BSD-3-Clause
#include "match/matcher.h"

#include <errno.h>

#include "match/finish.h"

namespace nagaya::match {
namespace {

static_assert(NAGAYA_CONTROL_MAX <= llcl::Port::kLongestNote);
constexpr int kMessagesAtOnce = 64;
constexpr int kLooksBeforeDrop = 4;  // times kMessagesAtOnce messages: as many as a port holds
constexpr uint64_t kRefusedNs = 500;
// Value of a send's `answers` once it is found to be complete. finish() runs after that, outside of
// the lock, so cancel() refuses the send from here on.
constexpr uint32_t kNoMore = UINT32_MAX;
// Bit of `answers`: the receiver was asked to cancel the send. The matcher does not ask twice: the
// second answer would come too late.
constexpr uint32_t kAskedBack = 1u << 31;

}  // namespace

Matcher::Matcher(llcl::Port& port, llcl::Pulls& pulls, llcl::Wait& waits, bool threads)
    : port_(port), pulls_(pulls), waits_(waits), has_threads_(threads) {
  const int error = waits_.add(
      {.advance = [](void* self) { return static_cast<Matcher*>(self)->advance(); },
       .every = 1,
       .before_sleep = [](void* self) { return static_cast<Matcher*>(self)->before_sleep(); },
       .after_sleep = [](void* self) { static_cast<Matcher*>(self)->port_.after_sleep(); },
       .context = this});
  if (error != 0) throw std::bad_alloc();
}

Matcher::~Matcher() {
  waits_.remove(this);
}

// ---- sending ------------------------------------------------------------------------------------

int Matcher::post_rendezvous(nagaya_send& send) {
  if (send.handle == 0) send.handle = sends_.give({&send, 0});
  Rendezvous rendezvous{{}, send.handle};
  llcl::Layout layout;
  const layout::Buffer data(send.data, send.bytes, send.runs);
  int error = pulls_.share(send.to, data, send.bytes, sends_.find(send.handle)->region,
                           rendezvous.source, layout);
  if (error != 0) return error;
  const size_t layout_bytes = layout.size() * sizeof(nagaya_runs);
  const nagaya_runs both[] = {{&rendezvous, sizeof rendezvous, 1, 0},
                              {layout.data(), layout_bytes, 1, 0}};
  const layout::Buffer body(&rendezvous, sizeof rendezvous, layout.empty() ? nullptr : both);
  error =
      port_.note(send.to, static_cast<uint8_t>(Kind::kRendezvous),
                 port_header({send.envelope, send.serial}), body, sizeof rendezvous + layout_bytes);
  if (error == 0) send.answers = 1;
  port_.expect(send.to);
  return error;
}

int Matcher::begin(nagaya_send& send, bool& is_over) {
  is_over = false;
  const bool is_control = send.is_control != 0;
  if (is_control || (send.is_synchronous == 0 && port_.takes(send.to, send.bytes))) {
    const layout::Buffer data(send.data, send.bytes, send.runs);
    const auto what = is_control ? llcl::Port::Body::kControl : llcl::Port::Body::kData;
    const int error = port_.post(send.to, static_cast<uint8_t>(Kind::kMessage),
                                 port_header({send.envelope, send.serial}), data, send.bytes, what);
    is_over = error == 0;
    if (is_over) be_unknown(send);  // it may have a handle from an earlier try by rendezvous
    if (error != -ENOBUFS || is_control) return error;
  }
  return post_rendezvous(send);
}

int Matcher::try_send(nagaya_process to, const Envelope& envelope, const void* data, size_t bytes,
                      uint32_t* serial) {
  if (!port_.reaches(to)) return -EINVAL;
  if (!port_.takes(to, bytes)) return -EAGAIN;
  const auto lock = locked();
  if (outbox_.holds_up(to)) return -EAGAIN;
  const int error =
      port_.post(to, static_cast<uint8_t>(Kind::kMessage), port_header({envelope, ++last_serial_}),
                 {data, bytes, nullptr}, bytes, llcl::Port::Body::kData);
  if (serial != nullptr) *serial = last_serial_;
  return error == -ENOBUFS ? -EAGAIN : error;
}

int Matcher::send(nagaya_send& send) {
  if (!port_.reaches(send.to)) return -EINVAL;
  if (send.is_control != 0 && send.bytes > NAGAYA_CONTROL_MAX) return -EMSGSIZE;
  send.is_complete = send.is_cancelled = send.answers = 0;
  send.error = 0;
  send.handle = 0;
  bool is_over = false;
  {
    const auto lock = locked();
    send.serial = ++last_serial_;
    try {
      int error = -EAGAIN;
      if (!outbox_.holds_up(send.to)) error = begin(send, is_over);
      if (error == -EAGAIN) {
        outbox_.enter(send);
      } else if (error != 0) {
        be_unknown(send);
        return error;
      }
    } catch (const std::bad_alloc&) {
      be_unknown(send);
      throw;
    }
  }
  if (is_over) finish(send);
  return 0;
}

// A send that waits in the outbox is withdrawn at once; for any other its receiver decides.
int Matcher::cancel(nagaya_send& send) {
  if (!port_.reaches(send.to)) return -EINVAL;
  {
    const auto lock = locked();
    if (send.answers == kNoMore) return -EALREADY;
    if ((send.answers & kAskedBack) != 0) return 0;
    outbox_.keep_place();
    if (!withdraw(send)) {
      if (send.answers == 0) send.handle = 0;  // it was complete: that handle is not valid any more
      if (send.handle == 0) send.handle = sends_.give({&send, 0});
      send.is_complete = 0;
      send.answers = (send.answers + 1) | kAskedBack;
      post_or_wait({send.to, Kind::kCancel, {send.envelope, send.serial}, send.handle});
      return 0;
    }
  }
  finish(send);
  return 0;
}

bool Matcher::withdraw(nagaya_send& send) {
  if (!outbox_.withdraw(send)) return false;
  be_unknown(send);
  send.is_cancelled = 1;
  send.answers = kNoMore;
  return true;
}

// Takes back the send's handle and region, by which other processes know it.
void Matcher::be_unknown(nagaya_send& send) {
  const Known* const known = sends_.find(send.handle);
  if (known != nullptr) pulls_.unshare(known->region);
  sends_.take_back(send.handle);
  send.handle = 0;
}

int Matcher::post(const Outbox::Note& note) {
  const Handle handle{note.send};
  return port_.note(note.to, static_cast<uint8_t>(note.kind), port_header(note.header),
                    {&handle, sizeof handle, nullptr}, sizeof handle);
}

// Posts the note, or enters it into the outbox, which has a place for it.
void Matcher::post_or_wait(const Outbox::Note& note) {
  if (post(note) != 0) outbox_.enter(note);
}

// ---- progress -----------------------------------------------------------------------------------

// Reserves memory for the next message and its answer. May throw std::bad_alloc.
void Matcher::keep_memory_for_next() {
  if (spare_ == nullptr) spare_ = std::make_unique<Unexpected>();
  outbox_.keep_place();
}

// Takes the next message out of the port and matches it. Returns 0, -EAGAIN (there is none), or
// -ENOMEM (it stays in the port).
int Matcher::next(Step& step) {
  const auto lock = locked();
  try {
    keep_memory_for_next();
  } catch (const std::bad_alloc&) {
    return port_.has_next() ? -ENOMEM : -EAGAIN;
  }
  Incoming& incoming = step.incoming;
  step.sent = nullptr;
  step.receive = nullptr;
  if (!port_.take(incoming)) return -EAGAIN;
  if (!incoming.is_sound()) {
    port_.refuse(incoming);
    return 0;
  }
  if (incoming.kind() == Kind::kRendezvous || incoming.kind() == Kind::kCancel) outbox_.owe();
  switch (incoming.kind()) {
    case Kind::kCopied:
    case Kind::kKept:
    case Kind::kCancelled:
      step.sent = answered(incoming);
      break;
    case Kind::kCancel:
      answer(incoming.source(), incoming.send(), forget(incoming) ? Kind::kCancelled : Kind::kKept);
      break;
    default:
      step.receive = posted_.take(incoming.envelope());
      if (step.receive != nullptr) break;
      spare_->incoming = incoming;
      unexpected_.enter(*spare_.release());
  }
  return 0;
}

// Returns the send that this answer completes, or nullptr. Refuses an answer that no send awaits.
nagaya_send* Matcher::answered(const Incoming& answer) {
  const Known* const known = sends_.find(answer.send());
  nagaya_send* const found = known == nullptr ? nullptr : known->send;
  const auto is_awaited = [&] {
    const bool was_asked_back = (found->answers & kAskedBack) != 0;
    return found->answers != kNoMore && (found->answers & ~kAskedBack) != 0 &&
           (was_asked_back || answer.kind() == Kind::kCopied);
  };
  const auto is_the_receivers = [&] {
    const nagaya_process source = answer.source();
    return source.node == found->to.node && source.task == found->to.task;
  };
  if (found == nullptr || !is_awaited() || !is_the_receivers()) {
    port_.refuse(answer);
    return nullptr;
  }
  nagaya_send& send = *found;
  send.is_cancelled = answer.kind() == Kind::kCancelled;
  send.answers = send.is_cancelled != 0 ? 0 : send.answers - 1;  // a cancelled send gets no kCopied
  if ((send.answers & ~kAskedBack) != 0) return nullptr;
  be_unknown(send);
  send.answers = kNoMore;
  return &send;
}

// Drops the message that the sender wants to cancel. Returns false if it has been matched.
bool Matcher::forget(const Incoming& cancel) {
  Unexpected* const message = unexpected_.find(cancel.envelope(), cancel.header().serial);
  if (message != nullptr) drop(*message);
  return message != nullptr;
}

void Matcher::drop(Unexpected& message) {
  unexpected_.leave(message);
  if (message.incoming.kind() == Kind::kRendezvous) outbox_.settle();
  message.incoming.give_back();
  delete &message;
}

int Matcher::drop(uint32_t context) {
  // Arrived messages may still lie in the port. advance() is called only often enough for these,
  // because other tasks go on sending.
  bool has_moved = false;
  for (int n = 0; n < kLooksBeforeDrop && advance() > 0; ++n) has_moved = true;
  if (has_moved) waits_.tell_threads();
  const auto lock = locked();
  unexpected_.for_each([&](Unexpected& message) {
    const Incoming& incoming = message.incoming;
    // A rendezvous of a living sender stays, for the sender waits for an answer. That of a sender
    // that has ended is dropped: nobody waits, and the sender's memory may be freed.
    const bool is_sent = incoming.kind() != Kind::kRendezvous || !port_.reaches(incoming.source());
    if (is_sent && incoming.envelope().context == context) drop(message);
  });
  return 0;
}

bool Matcher::has_unfinished() {
  const auto lock = locked();
  return !outbox_.empty() || !readings_.empty();
}

// Begins a send of the outbox. Returns whether it leaves the outbox: it has begun, or has ended by
// an error. Adds it to `over` if it is complete, with or without an error.
bool Matcher::begin_late(nagaya_send& send, std::vector<nagaya_send*>& over) {
  bool is_over = false;
  int error;
  try {
    over.push_back(&send);
    error = begin(send, is_over);
  } catch (const std::bad_alloc&) {
    error = -ENOMEM;
    if (over.empty() || over.back() != &send) return false;  // no memory to end it either
  }
  // -ENOBUFS: this thread may have no lane, but another one that retries may have.
  const bool stays = error == -EAGAIN || error == -ENOBUFS;
  if (stays || (error == 0 && !is_over)) {
    over.pop_back();
    return !stays;
  }
  if (error != 0) be_unknown(send);
  send.error = error;
  send.answers = kNoMore;
  return true;
}

// Posts from the outbox as far as the ports have room. Returns how many messages left. While some
// stay, tries again only after kRefusedNs: each try at a full port reads a line that the port's
// reader writes for each message.
int Matcher::send_waiting(std::vector<nagaya_send*>& over) {
  const uint64_t now_ns = mailbox::Machine::now_ns();
  if (now_ns < next_try_ns_) return 0;
  const int count = outbox_.flush(
      [this](const Outbox::Note& note) {
        const int error = post(note);
        return error != -EAGAIN && error != -ENOBUFS;  // else its receiver is gone
      },
      [&](nagaya_send& send) { return begin_late(send, over); });
  next_try_ns_ = outbox_.empty() ? 0 : now_ns + kRefusedNs;
  return count;
}

// Handles arrived messages, then advances pending transfers, even without memory: others wait for
// the answers. Returns the number handled; -ENOMEM if none was and messages stay in the port.
int Matcher::advance() {
  int count = 0, error = 0;
  for (Step step; count < kMessagesAtOnce; ++count) {
    error = next(step);
    if (error != 0) break;
    if (step.sent != nullptr) finish(*step.sent);
    if (step.receive != nullptr) deliver(step.incoming, *step.receive);
  }
  if (has_unfinished()) {
    count += progress_pulls();
    std::vector<nagaya_send*> over;
    {
      const auto lock = locked();
      count += send_waiting(over);
    }
    for (nagaya_send* const send : over) finish(*send);
  }
  return count == 0 && error == -ENOMEM ? error : count;
}

// ---- waiting ------------------------------------------------------------------------------------

// Returns how long a thread may sleep [ns]. No event rings the bell when another task's port has
// room again, so sleeps are short while messages wait in the outbox, or pulls are pending.
uint64_t Matcher::before_sleep() {
  const auto lock = locked();
  const uint64_t longest_ns = port_.before_sleep();
  return outbox_.empty() && readings_.empty() ? longest_ns : NAGAYA_NOBODY_RINGS;
}

}  // namespace nagaya::match
