// SPDX-License-Identifier: BSD-3-Clause
#include "match/matcher.h"

#include <errno.h>

#include "match/finish.h"

namespace nagaya::match {
namespace {

static_assert(NAGAYA_CONTROL_MAX <= llcl::Port::kControlMaxBytes);
constexpr int kMessagesAtOnce = 64;
constexpr int kPollsBeforeDrop = 4;  // times kMessagesAtOnce messages: as many as a port holds
constexpr uint64_t kOutboxRetryNs = 500;
// Value of a send's `answers` once it is found to be complete. finish() runs after that, outside of
// the lock, so cancel() refuses the send from here on.
constexpr uint32_t kCompleted = UINT32_MAX;
// Bit of `answers`: the receiver was asked to cancel the send. The matcher does not ask twice: the
// second answer would come too late.
constexpr uint32_t kCancelRequested = 1u << 31;

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

// ---- what readers of the task's activity see ----------------------------------------------------

void Matcher::record_sent(nagaya_process to, const Header& header, size_t bytes) {
  const Envelope& envelope = header.envelope;
  waits_.recorder().count_sent(
      to, {envelope.context, header.serial, envelope.source, envelope.tag, bytes});
}

// The cell of a short message does not name its sender. Its send names context, rank and task.
void Matcher::record_received(const Incoming& incoming) {
  const Header header = incoming.header();
  const nagaya_process from =
      incoming.has_source() ? incoming.source() : nagaya_process{0, UINT32_MAX};
  waits_.recorder().count_received(
      from, {header.envelope.context, header.serial, header.envelope.source, header.envelope.tag,
             incoming.message_bytes()});
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
  error = port_.post_with_source(send.to, static_cast<uint8_t>(Kind::kRendezvous),
                                 port_header({send.envelope, send.serial}), body,
                                 sizeof rendezvous + layout_bytes);
  if (error == 0) send.answers = 1;
  port_.set_partner(send.to);
  if (waits_.recorder().is_read()) [[unlikely]]
    waits_.recorder().expect(llcl::Purpose::kSend, send.to);
  return error;
}

int Matcher::begin(nagaya_send& send, bool& is_complete) {
  is_complete = false;
  const bool is_control = send.is_control != 0;
  if (is_control || (send.is_synchronous == 0 && port_.may_be_eager(send.to, send.bytes))) {
    const layout::Buffer data(send.data, send.bytes, send.runs);
    const auto what = is_control ? llcl::Port::Body::kControl : llcl::Port::Body::kData;
    const int error = port_.post(send.to, static_cast<uint8_t>(Kind::kMessage),
                                 port_header({send.envelope, send.serial}), data, send.bytes, what);
    is_complete = error == 0;
    if (is_complete)
      release_handle(send);  // it may have a handle from an earlier try by rendezvous
    // -ENOBUFS: no block is left to lend; a rendezvous needs none.
    if (error != -ENOBUFS || is_control) return error;
  }
  return post_rendezvous(send);
}

int Matcher::try_send(nagaya_process to, const Envelope& envelope, const layout::Buffer& data,
                      uint32_t* serial) {
  if (!port_.may_reach(to)) return -EINVAL;
  if (!port_.may_be_eager(to, data.bytes())) return -EAGAIN;
  const auto lock = locked();
  if (outbox_.has_sends_to(to)) return -EAGAIN;
  const int error =
      port_.post(to, static_cast<uint8_t>(Kind::kMessage), port_header({envelope, ++last_serial_}),
                 data, data.bytes(), llcl::Port::Body::kData);
  if (serial != nullptr) *serial = last_serial_;
  if (waits_.recorder().is_read() && error == 0) [[unlikely]]
    record_sent(to, {envelope, last_serial_}, data.bytes());
  return error == -ENOBUFS ? -EAGAIN : error;
}

int Matcher::send(nagaya_send& send) {
  if (!port_.may_reach(send.to)) return -EINVAL;
  if (send.is_control != 0 && send.bytes > NAGAYA_CONTROL_MAX) return -EMSGSIZE;
  send.is_complete = send.is_cancelled = send.answers = 0;
  send.error = 0;
  send.handle = 0;
  bool is_complete = false;
  {
    const auto lock = locked();
    send.serial = ++last_serial_;
    try {
      int error = -EAGAIN;
      if (!outbox_.has_sends_to(send.to)) error = begin(send, is_complete);
      if (error == -EAGAIN) {
        outbox_.enter(send);
      } else if (error != 0) {
        release_handle(send);
        return error;
      }
    } catch (const std::bad_alloc&) {
      release_handle(send);
      throw;
    }
  }
  if (waits_.recorder().is_read()) [[unlikely]]
    record_sent(send.to, {send.envelope, send.serial}, send.bytes);
  if (is_complete) finish(send);
  return 0;
}

// A send that waits in the outbox is withdrawn at once; for any other its receiver decides.
int Matcher::cancel(nagaya_send& send) {
  if (!port_.may_reach(send.to)) return -EINVAL;
  {
    const auto lock = locked();
    if (send.answers == kCompleted) return -EALREADY;
    if ((send.answers & kCancelRequested) != 0) return 0;
    outbox_.reserve_place();
    if (!withdraw(send)) {
      if (send.answers == 0) send.handle = 0;  // it was complete: that handle is not valid any more
      if (send.handle == 0) send.handle = sends_.give({&send, 0});
      send.is_complete = 0;
      send.answers = (send.answers + 1) | kCancelRequested;
      post_or_wait({send.to, Kind::kCancel, {send.envelope, send.serial}, send.handle});
      return 0;
    }
  }
  finish(send);
  return 0;
}

bool Matcher::withdraw(nagaya_send& send) {
  if (!outbox_.withdraw(send)) return false;
  release_handle(send);
  send.is_cancelled = 1;
  send.answers = kCompleted;
  return true;
}

// Takes back the send's handle and region, by which other processes know it.
void Matcher::release_handle(nagaya_send& send) {
  const OpenSend* const open = sends_.find(send.handle);
  if (open != nullptr) pulls_.unshare(open->region);
  sends_.take_back(send.handle);
  send.handle = 0;
}

int Matcher::post(const Outbox::Note& note) {
  const Handle handle{note.send_handle};
  return port_.post_with_source(note.to, static_cast<uint8_t>(note.kind), port_header(note.header),
                                {&handle, sizeof handle, nullptr}, sizeof handle);
}

// Posts the note, or enters it into the outbox, which has a place for it.
void Matcher::post_or_wait(const Outbox::Note& note) {
  if (post(note) != 0) outbox_.enter(note);
}

// ---- progress -----------------------------------------------------------------------------------

// Reserves memory for the next message and its answer. May throw std::bad_alloc.
void Matcher::reserve_memory_for_next() {
  if (spare_ == nullptr) spare_ = std::make_unique<Unexpected>();
  outbox_.reserve_place();
}

// Takes the next message out of the port and matches it. Returns 0, -EAGAIN (there is none), or
// -ENOMEM (it stays in the port).
int Matcher::match_next(UnlockedWork& work) {
  const auto lock = locked();
  try {
    reserve_memory_for_next();
  } catch (const std::bad_alloc&) {
    return port_.has_next() ? -ENOMEM : -EAGAIN;
  }
  Incoming& incoming = work.incoming;
  work.completed_send = nullptr;
  work.receive = nullptr;
  if (!port_.take(incoming)) return -EAGAIN;
  if (!incoming.is_sound()) {
    port_.drop_forged(incoming);
    return 0;
  }
  if (incoming.kind() == Kind::kRendezvous || incoming.kind() == Kind::kCancel)
    outbox_.add_owed_answer();
  switch (incoming.kind()) {
    case Kind::kCopied:
    case Kind::kNotCancelled:
    case Kind::kCancelled:
      work.completed_send = send_completed_by(incoming);
      break;
    case Kind::kCancel:
      answer(incoming.source(), incoming.send_handle(),
             drop_cancelled(incoming) ? Kind::kCancelled : Kind::kNotCancelled);
      break;
    default:
      work.receive = posted_.take(incoming.envelope());
      if (work.receive != nullptr) break;
      spare_->incoming = incoming;
      unexpected_.enter(*spare_.release());
  }
  return 0;
}

// Returns the send that this answer completes, or nullptr. Refuses an answer that no send awaits.
nagaya_send* Matcher::send_completed_by(const Incoming& answer) {
  const OpenSend* const open = sends_.find(answer.send_handle());
  nagaya_send* const found = open == nullptr ? nullptr : open->send;
  const auto is_awaited = [&] {
    const bool was_cancel_requested = (found->answers & kCancelRequested) != 0;
    return found->answers != kCompleted && (found->answers & ~kCancelRequested) != 0 &&
           (was_cancel_requested || answer.kind() == Kind::kCopied);
  };
  if (found == nullptr || !is_awaited() || !is_same(answer.source(), found->to)) {
    port_.drop_forged(answer);
    return nullptr;
  }
  nagaya_send& send = *found;
  send.is_cancelled = answer.kind() == Kind::kCancelled;
  send.answers = send.is_cancelled != 0 ? 0 : send.answers - 1;  // a cancelled send gets no kCopied
  if ((send.answers & ~kCancelRequested) != 0) return nullptr;
  release_handle(send);
  send.answers = kCompleted;
  if (waits_.recorder().is_read()) [[unlikely]]
    waits_.recorder().arrived(llcl::Purpose::kSend, send.to);
  return &send;
}

// Drops the message that the sender wants to cancel. Returns false if it has been matched.
bool Matcher::drop_cancelled(const Incoming& cancel) {
  Unexpected* const message = unexpected_.find(cancel.envelope(), cancel.header().serial);
  if (message != nullptr) drop(*message);
  return message != nullptr;
}

void Matcher::drop(Unexpected& message) {
  unexpected_.leave(message);
  if (message.incoming.kind() == Kind::kRendezvous) outbox_.remove_owed_answer();
  message.incoming.give_back();
  delete &message;
}

int Matcher::drop(uint32_t context) {
  // Arrived messages may still lie in the port. advance() is called only often enough for these,
  // because other tasks go on sending.
  bool has_moved = false;
  for (int n = 0; n < kPollsBeforeDrop && advance() > 0; ++n) has_moved = true;
  if (has_moved) waits_.wake_threads();
  const auto lock = locked();
  unexpected_.for_each([&](Unexpected& message) {
    const Incoming& incoming = message.incoming;
    // A rendezvous of a living sender stays, for the sender waits for an answer. That of a sender
    // that has ended is dropped: nobody waits, and the sender's memory may be freed.
    const bool is_sent =
        incoming.kind() != Kind::kRendezvous || !port_.may_reach(incoming.source());
    if (is_sent && incoming.envelope().context == context) drop(message);
  });
  return 0;
}

bool Matcher::has_pending_work() {
  const auto lock = locked();
  return !outbox_.empty() || !pending_pulls_.empty();
}

// Begins a send of the outbox. Returns whether it leaves the outbox: it has begun, or has ended by
// an error. Adds it to `completed` if it is complete, with or without an error.
bool Matcher::begin_from_outbox(nagaya_send& send, std::vector<nagaya_send*>& completed) {
  bool is_complete = false;
  int error;
  try {
    completed.push_back(&send);
    error = begin(send, is_complete);
  } catch (const std::bad_alloc&) {
    error = -ENOMEM;
    if (completed.empty() || completed.back() != &send) return false;  // no memory to end it either
  }
  // -ENOBUFS: this thread may have no lane, but another one that retries may have.
  const bool stays = error == -EAGAIN || error == -ENOBUFS;
  if (stays || (error == 0 && !is_complete)) {
    completed.pop_back();
    return !stays;
  }
  if (error != 0) release_handle(send);
  send.error = error;
  send.answers = kCompleted;
  return true;
}

// Posts from the outbox as far as the ports have room. Returns how many messages left. While some
// stay, tries again only after kOutboxRetryNs: each try at a full port reads a line that the port's
// reader writes for each message.
int Matcher::flush_outbox(std::vector<nagaya_send*>& completed) {
  const uint64_t now_ns = mailbox::Machine::now_ns();
  if (now_ns < next_try_ns_) return 0;
  const int count = outbox_.flush(
      [this](const Outbox::Note& note) {
        const int error = post(note);
        return error != -EAGAIN && error != -ENOBUFS;  // else its receiver is gone
      },
      [&](nagaya_send& send) { return begin_from_outbox(send, completed); });
  next_try_ns_ = outbox_.empty() ? 0 : now_ns + kOutboxRetryNs;
  return count;
}

// Handles arrived messages, then advances pending transfers, even without memory: others wait for
// the answers. Returns the number handled; -ENOMEM if none was and messages stay in the port.
int Matcher::advance() {
  int count = 0, error = 0;
  for (UnlockedWork work; count < kMessagesAtOnce; ++count) {
    error = match_next(work);
    if (error != 0) break;
    if (work.completed_send != nullptr) finish(*work.completed_send);
    if (work.receive != nullptr) deliver(work.incoming, *work.receive);
  }
  if (has_pending_work()) {
    count += progress_pulls();
    std::vector<nagaya_send*> completed;
    {
      const auto lock = locked();
      count += flush_outbox(completed);
    }
    for (nagaya_send* const send : completed) finish(*send);
  }
  return count == 0 && error == -ENOMEM ? error : count;
}

// ---- waiting ------------------------------------------------------------------------------------

// Returns how long a thread may sleep [ns]. No event rings the bell when another task's port has
// room again, so sleeps are short while messages wait in the outbox, or pulls are pending.
uint64_t Matcher::before_sleep() {
  const auto lock = locked();
  const uint64_t longest_ns = port_.before_sleep();
  return outbox_.empty() && pending_pulls_.empty() ? longest_ns : NAGAYA_NOBODY_RINGS;
}

}  // namespace nagaya::match
