// SPDX-License-Identifier: BSD-3-Clause
#include "match/matcher.h"

#include <errno.h>

#include <cstring>

#include "match/finish.h"

namespace nagaya::match {
namespace {

constexpr int kMessagesAtOnce = 64;
// The bodies of so many messages may be with others, or on their way, at once. [bytes]
constexpr size_t kPoolBytes = 64 << 20, kRemotePoolBytes = 2 << 20;
// In place of a send's `answers`, from when it is found to be complete: what finishes it does so
// outside of the lock, where nobody may ask for it back any more.
constexpr uint32_t kNoMore = UINT32_MAX;
// In `answers`, once the send was asked back: no second time, whose answer would come too late.
constexpr uint32_t kAskedBack = 1u << 31;

// To one run of memory, which is not the caller's.
void gather(const Buffer& from, void* to, size_t bytes) {
  if (from.is_one_run())
    std::memcpy(to, from.data(), bytes);
  else
    copy(Place(Buffer(to, bytes, nullptr).runs()), Place(from.runs()), bytes);
}

}  // namespace

Matcher::Matcher(llcl::Board& board, mailbox::Owner self, size_t eager_max, bool threads,
                 Remote& remote, llcl::Wait& waits)
    : board_(board),
      self_(self),
      mailbox_(board.two_sided[self.number()]),
      eager_max_(eager_max),
      remote_eager_max_(std::max(eager_max, std::min(16 * eager_max, kRemoteEagerMax))),
      locks_(threads),
      remote_(remote),
      waits_(waits),
      pool_(std::max(kHeaderBytes + eager_max, sizeof(Cell)), kPoolBytes),
      remote_pool_(kHeaderBytes + remote_eager_max_, kRemotePoolBytes) {
  const int error = waits_.add(
      {.advance = [](void* self) { return static_cast<Matcher*>(self)->try_advance(); },
       .every = 1,
       .before_sleep = [](void* self) { return static_cast<Matcher*>(self)->before_sleep(); },
       .after_sleep = [](void* self) { static_cast<Matcher*>(self)->mailbox_.after_sleep(); },
       .context = this});
  if (error != 0) throw std::bad_alloc();
}

Matcher::~Matcher() {
  waits_.remove(this);
}

// ---- sending ------------------------------------------------------------------------------------

int Matcher::post(nagaya_process to, CellKind kind, const Cell& cell, size_t bytes) {
  if (!is_own_node(to)) return post_remote(to, kind, cell, cell.body, bytes - kHeaderBytes);
  return board_.two_sided[to.task].post(self_, static_cast<uint8_t>(kind), &cell, bytes);
}

int Matcher::post_remote(nagaya_process to, CellKind kind, const Cell& header, const void* body,
                         size_t bytes) {
  const auto write = [&](std::byte* message) {
    std::memcpy(message, &header, kHeaderBytes);
    std::memcpy(message + kHeaderBytes, body, bytes);
  };
  if (kHeaderBytes + bytes <= llcl::kInlineMaxBytes) {
    std::byte message[llcl::kInlineMaxBytes];
    write(message);
    return remote_.send(to, kind, message, kHeaderBytes + bytes, nullptr);
  }
  Loan block;
  EagerPool& pool = kHeaderBytes + bytes <= pool_.block_bytes() ? pool_ : remote_pool_;
  if (!pool.take_for_flag(block)) return -EAGAIN;
  write(block.data);
  const int error = remote_.send(to, kind, block.data, kHeaderBytes + bytes, block.returned);
  if (error != 0) block.give_back();
  return error;
}

int Matcher::post_eager(nagaya_process to, const Envelope& envelope, uint32_t serial,
                        const Buffer& data, size_t bytes) {
  Cell cell;
  cell.envelope = envelope;
  cell.serial = serial;
  if (!is_own_node(to)) return post_remote(to, CellKind::kInline, cell, data.data(), bytes);
  if (bytes <= kInlineMaxBytes) {
    gather(data, cell.body, bytes);
    return post(to, CellKind::kInline, cell, kHeaderBytes + bytes);
  }
  cell.eager.bytes = bytes;
  if (!pool_.take(cell.eager.loan)) return -ENOBUFS;
  gather(data, cell.eager.loan.data, bytes);
  const int error = post(to, CellKind::kEager, cell, sizeof cell);
  if (error != 0) cell.eager.loan.give_back();
  return error;
}

int Matcher::post_rendezvous(nagaya_send& send) {
  if (send.handle == 0) send.handle = sends_.give(send);
  if (!is_own_node(send.to) && send.bytes != 0 && send.region == 0) {
    const int error = remote_.share(send.data, send.bytes, send.region);
    if (error != 0) return error;
  }
  Cell cell;
  cell.envelope = send.envelope;
  cell.serial = send.serial;
  const bool is_in_runs = send.runs != nullptr;
  cell.rendezvous = {send.bytes,  is_in_runs ? send.runs : send.data,
                     send.handle, own_process(),
                     send.region, is_in_runs};
  const int error = post(send.to, CellKind::kRendezvous, cell, sizeof cell);
  if (error == 0) send.answers = 1;
  expect(send.to);
  return error;
}

int Matcher::begin(nagaya_send& send, bool& is_over) {
  is_over = false;
  if (send.is_synchronous == 0 && is_eager(send.to, send.bytes)) {
    const Buffer data(send.data, send.bytes, send.runs);
    const int error = post_eager(send.to, send.envelope, send.serial, data, send.bytes);
    is_over = error == 0;
    if (is_over) be_unknown(send);  // it may have waited in the outbox to go by rendezvous
    if (error != -ENOBUFS) return error;
  }
  return post_rendezvous(send);
}

int Matcher::try_send(nagaya_process to, const Envelope& envelope, const void* data, size_t bytes,
                      uint32_t* serial) {
  if (!is_reachable(to)) return -EINVAL;
  if (!is_eager(to, bytes)) return -EAGAIN;
  const Turn turn(*this);
  if (outbox_.holds_up(to)) return -EAGAIN;
  const int error = post_eager(to, envelope, ++last_serial_, {data, bytes, nullptr}, bytes);
  if (serial != nullptr) *serial = last_serial_;
  return error == -ENOBUFS ? -EAGAIN : error;
}

int Matcher::send(nagaya_send& send) {
  if (!is_reachable(send.to)) return -EINVAL;
  if (send.runs != nullptr && !is_own_node(send.to)) return -EINVAL;
  send.is_complete = send.is_cancelled = send.answers = send.region = 0;
  send.error = 0;
  send.handle = 0;
  bool is_over = false;
  {
    const Turn turn(*this);
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

// In the outbox it has not left yet; else its receiver decides.
int Matcher::cancel(nagaya_send& send) {
  if (!is_reachable(send.to)) return -EINVAL;
  {
    const Turn turn(*this);
    if (send.answers == kNoMore) return -EALREADY;
    if ((send.answers & kAskedBack) != 0) return 0;
    outbox_.keep_place();
    send.is_complete = 0;
    if (!withdraw(send)) {
      if (send.answers == 0) send.region = 0, send.handle = 0;  // it was complete
      if (send.handle == 0) send.handle = sends_.give(send);
      Cell cell{};
      cell.envelope = send.envelope;
      cell.serial = send.serial;
      cell.rendezvous.send = send.handle;
      cell.rendezvous.sender = own_process();
      send.answers = (send.answers + 1) | kAskedBack;
      post_or_wait(send.to, CellKind::kCancel, cell);
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

// Ends what other processes know the send by.
void Matcher::be_unknown(nagaya_send& send) {
  if (send.region != 0) remote_.unshare(send.region);
  sends_.take_back(send.handle);
  send.region = 0;
  send.handle = 0;
}

// An answer or a cancel, for which the outbox keeps a place.
void Matcher::post_or_wait(nagaya_process to, CellKind kind, const Cell& cell) {
  if (post(to, kind, cell, bytes_of(kind)) != 0) outbox_.enter({to, kind, cell});
}

// ---- progress -----------------------------------------------------------------------------------

// May throw std::bad_alloc.
void Matcher::keep_memory_for_next() {
  if (spare_ == nullptr) spare_ = std::make_unique<Unexpected>();
  outbox_.keep_place();
}

// Takes the next cell and matches it. False: there is none. May throw std::bad_alloc, then nothing
// is taken.
bool Matcher::next(Step& step) {
  const Turn turn(*this);
  keep_memory_for_next();
  const mailbox::Message message = mailbox_.take();
  if (!message) return false;
  Incoming& incoming = step.incoming;
  step.sent = nullptr;
  step.receive = nullptr;
  std::optional<nagaya_process> elsewhere;
  if (static_cast<CellKind>(message.kind) != CellKind::kFromRemote) {
    incoming.copy_from(message);
  } else if (!unpack(message, incoming, elsewhere.emplace())) {
    board_.dropped.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  if (incoming.kind == CellKind::kRendezvous || incoming.kind == CellKind::kCancel) outbox_.owe();
  switch (incoming.kind) {
    case CellKind::kCopied:
    case CellKind::kKept:
    case CellKind::kCancelled:
      step.sent = answered(incoming, elsewhere);
      break;
    case CellKind::kCancel:
      answer(incoming.cell, forget(incoming.cell) ? CellKind::kCancelled : CellKind::kKept);
      break;
    default:
      step.receive = posted_.take(incoming.cell.envelope);
      if (step.receive != nullptr) break;
      spare_->incoming = incoming;
      unexpected_.enter(*spare_.release());
  }
  return true;
}

// The send that the answer is about, if it is complete with this. `elsewhere`: the process of
// another node that has answered.
nagaya_send* Matcher::answered(const Incoming& answer,
                               const std::optional<nagaya_process>& elsewhere) {
  nagaya_send* const found = sends_.find(answer.cell.answer.send);
  const auto is_awaited = [&] {
    const bool was_asked_back = (found->answers & kAskedBack) != 0;
    return found->answers != kNoMore && (found->answers & ~kAskedBack) != 0 &&
           (was_asked_back || answer.kind == CellKind::kCopied);
  };
  if (found == nullptr || !is_awaited() ||
      (elsewhere && (elsewhere->node != found->to.node || elsewhere->task != found->to.task))) {
    board_.dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  nagaya_send& send = *found;
  send.is_cancelled = answer.kind == CellKind::kCancelled;
  send.answers = send.is_cancelled != 0 ? 0 : send.answers - 1;  // what is cancelled is not copied
  if ((send.answers & ~kAskedBack) != 0) return nullptr;
  be_unknown(send);
  send.answers = kNoMore;
  return &send;
}

// What is to be cancelled and has not been matched yet. False: it has.
bool Matcher::forget(const Cell& cancel) {
  Unexpected* const message = unexpected_.find(cancel.envelope, cancel.serial);
  if (message != nullptr) drop(*message);
  return message != nullptr;
}

void Matcher::drop(Unexpected& message) {
  unexpected_.leave(message);
  if (message.incoming.kind == CellKind::kRendezvous) outbox_.settle();
  if (message.incoming.kind == CellKind::kEager) message.incoming.cell.eager.loan.give_back();
  delete &message;
}

int Matcher::drop(uint32_t context) {
  const Turn turn(*this);
  unexpected_.for_each([&](Unexpected& message) {
    const Incoming& incoming = message.incoming;
    const bool is_sent = incoming.kind != CellKind::kRendezvous;
    if (is_sent && incoming.cell.envelope.context == context) drop(message);
  });
  return 0;
}

bool Matcher::has_unfinished() {
  const Turn turn(*this);
  return !outbox_.empty() || !reads_.empty();
}

// Of the outbox. Whether it has left it: begun, or ended by an error (then it is in `over`, too).
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
  // Another thread may have a lane.
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

// As far as there is room. How many cells went.
int Matcher::send_waiting(std::vector<nagaya_send*>& over) {
  return outbox_.flush(
      [this](const Outbox::Note& note) {
        const int error = post(note.to, note.kind, note.cell, bytes_of(note.kind));
        return error != -EAGAIN && error != -ENOBUFS;  // else its receiver is gone
      },
      [&](nagaya_send& send) { return begin_late(send, over); });
}

// Takes what has come, and goes on with what is under way. How much that was.
int Matcher::advance() {
  int count = 0;
  for (Step step; count < kMessagesAtOnce && next(step); ++count) {
    if (step.sent != nullptr) finish(*step.sent);
    if (step.receive != nullptr) deliver(step.incoming, *step.receive);
  }
  if (has_unfinished()) {
    count += progress_reads();
    std::vector<nagaya_send*> over;
    {
      const Turn turn(*this);
      count += send_waiting(over);
    }
    for (nagaya_send* const send : over) finish(*send);
  }
  return count;
}

// As advance; -ENOMEM: messages stay in the mailbox, for there is no memory for them.
int Matcher::try_advance() {
  try {
    return advance();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

// ---- waiting ------------------------------------------------------------------------------------

// Nobody rings when another task's mailbox has room again.
uint64_t Matcher::before_sleep() {
  const Turn turn(*this);
  const uint64_t longest_ns = mailbox_.before_sleep();
  return outbox_.empty() && reads_.empty() ? longest_ns : NAGAYA_NOBODY_RINGS;
}

// `from` will send something next, or answer: the best guess is who was asked last.
void Matcher::expect(nagaya_process from) {
  const bool is_here =
      is_own_node(from) && from.task < board_.capacity && from.task != self_.number();
  waits_.expect(is_here ? from.task : llcl::Wait::kNobody);
}

}  // namespace nagaya::match
