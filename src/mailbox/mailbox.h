// SPDX-License-Identifier: BSD-3-Clause
// mailbox.h - a task's bounded queue of small messages. Any task of the space and the delegatee
// post; one thread at a time of the task that owns it takes.
//
//   posters' line                            reader's line          bell       256 of each
//   | tail: position, sleeping?, last poster | | head, held, turn | | armed? | | posters | cells |
//
//   taken ... | head: ready, reserved or nothing ... | tail: free ... head+255 |
//
//   cell, one line:   | position + 1, kind, bytes | payload, up to 56 bytes |
//
// A poster takes a position by compare-and-swap of `tail`, which stays in its cache while nobody
// else posts, and fills the cell by plain stores: one line travels to the reader, and nothing back,
// because the reader frees by moving `head`, which posters read once per 256 messages.
//
// A position, between `head` and `tail`:
//   free     -> reserved  poster, compare-and-swap of `tail`
//   reserved -> ready     poster, release of the cell's first word: the payload is complete
//   reserved -> nothing   host, for a poster that is dead (forget)
//   ready    -> nothing   reader, when it has taken the message past a reserved one
//   ready, nothing -> free of the next lap: reader, release of `head`
// `sleeping` is set and cleared by the reader; a poster that reserves while it is set rings the
// bell, so that one that dies before it rings is covered by the next.
//
// The poster of a reserved position that is not ready: `tail` names that of the last one, `posters`
// those of earlier ones. The poster writes its name there after its swap, or the next poster does
// before its own swap.
//
// Order: FIFO per posting thread. The reader steps over reserved positions, so a poster that is
// slow or dead delays its own message only (with its cell out of use 255 more messages fit).
//
//            post          take, sleep                        forget
//   post     any number    any                                any, of others
//   take, take_if          one thread; several take turns     any
//   forget, clear                                             the host's one thread
// (clear is the reader meanwhile: its owner has ended, and nobody else takes.)
//
// Progress: post is lock-free, everything else is wait-free.
// Death of a poster or of the reader at each step: docs/mailbox.md.
//
// All zero is the empty mailbox: it may lie in pages that nobody has touched.
#pragma once

#include <errno.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mailbox/doorbell.h"
#include "mailbox/machine.h"
#include "mailbox/owner.h"

namespace nagaya::mailbox {

inline constexpr size_t kMessageMaxBytes = 56;

// A message in its cell: valid until the next take, take_if or end_turn.
struct Message {
  const std::byte* payload = nullptr;  // 8-byte aligned; nullptr: no message
  uint8_t kind = 0;
  uint8_t bytes = 0;

  explicit operator bool() const { return payload != nullptr; }
};

template <class M, uint64_t kCells = 256>
class alignas(kLineBytes) BasicMailbox {
 public:
  // Copies one message into the mailbox. Never blocks. Returns 0 (earlier stores of the caller are
  // visible to the reader), -EAGAIN (full, nothing has changed), -EMSGSIZE.
  int post(Owner poster, uint8_t kind, const void* payload, size_t bytes) {
    if (bytes > kMessageMaxBytes) [[unlikely]]
      return -EMSGSIZE;
    Tail tail{tail_.load(std::memory_order_acquire)};
    do {
      if (full(tail.position())) {
        // The poster before may have died on its way to the bell.
        if (tail.sleeping()) bell_.ring();
        return -EAGAIN;
      }
      note_last_poster(tail);
      // Acquire: pairs with before_sleep (the bell is armed). Release: the notes of earlier
      // posters, for forget.
    } while (!tail_.compare_exchange_weak(tail.bits, tail.next(number(poster)).bits,
                                          std::memory_order_acq_rel, std::memory_order_acquire));
    const uint64_t position = tail.position();
    M::prefetch_to_write(&cell(position + kAhead));
    M::step(StopPoint::kPostReserved);
    // Relaxed: the next poster may have noted the same already.
    posters_[position % kCells].store(note(position, number(poster)), std::memory_order_relaxed);
    Cell& own = cell(position);
    std::memcpy(own.payload, payload, bytes);
    // Release: pairs with look_at.
    own.state.store(CellState::of(position, kind, static_cast<uint8_t>(bytes)).bits,
                    std::memory_order_release);
    M::step(StopPoint::kPostReady);
    if (tail.sleeping()) [[unlikely]]
      bell_.ring();
    return 0;
  }

  // The reader: the next message, if any. Gives back the one before.
  Message take() {
    give_back();
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const CellState state = look_at(head);
    if (state.is_message(head)) [[likely]]
      return hand_out(head, state);
    if (!state.is_nothing(head) && ++fruitless_ < kLookFurther) return {};
    fruitless_ = 0;
    return take_further();
  }

  // The same, if the next one is ready and is_it(message); else nothing is taken.
  template <class Predicate>
  Message take_if(Predicate is_it) {
    give_back();
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const CellState state = look_at(head);
    const bool is_taken = state.is_message(head) && is_it(message_at(head, state));
    return is_taken ? hand_out(head, state) : Message{};
  }

  // The reader: whether take() is sure to find something. A message that is ready behind a slow
  // poster's does not show here.
  bool has_next() {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    return held_ == 0 && look_at(head).is_message(head);
  }

  // The reader, for Waiting: asks posters to ring. How long it may sleep [ns]. The next take looks
  // at everything.
  uint64_t before_sleep() {
    fruitless_ = kLookFurther;
    // Release: the bell was armed; pairs with the posters' swap. Later swappers ring.
    const Tail tail{tail_.fetch_or(Tail::kSleeping, std::memory_order_acq_rel)};
    return tail.position() == head_.load(std::memory_order_relaxed) ? kNever : kPosterPatienceNs;
  }
  // Relaxed: a poster that still sees the mark rings a bell that is not armed.
  void after_sleep() { tail_.fetch_and(~Tail::kSleeping, std::memory_order_relaxed); }

  // The host, when it has reaped `dead` and before its number is used again.
  void forget(Owner dead) {
    // Before `tail`: it may move on, then less is left to do.
    const uint64_t head = head_.load(std::memory_order_relaxed);
    // Acquire: pairs with the posters' swaps: everyone but the last is noted.
    const Tail tail{tail_.load(std::memory_order_acquire)};
    for (uint64_t position = head; position < tail.position(); ++position) {
      // While it is not ready its note stays; after that somebody else's may stand there.
      if (look_at(position).serial() > position) continue;
      const uint64_t poster =
          position + 1 == tail.position() ? tail.last_poster() : poster_of(position);
      if (poster == number(dead))
        cell(position).state.store(CellState::nothing(position).bits, std::memory_order_release);
    }
    bell_.ring();  // it may have died on its way to the bell
  }

  // The host, as the reader between two owners: when it has reaped the earlier one, and before the
  // next one starts. Takes every message that was ready before the call, and calls visit(message)
  // for each. A message that becomes ready during the call is taken, too, or is for the next owner.
  // The message that the earlier owner held when it died counts as taken. Wait-free.
  template <class Visit>
  void clear(Visit visit) {
    if (is_untouched()) return;
    give_back();
    // No more can have been ready; a poster that goes on cannot keep the host here.
    for (uint64_t n = 0; n < kCells; ++n) {
      fruitless_ = kLookFurther;  // at once behind reserved positions
      const Message message = take();
      if (!message) break;
      visit(message);
    }
    after_sleep();
    bell_.disarm();
    end_turn();
  }

  // Several threads of the reading task take turns; `thread` is the caller's id (gettid).
  bool begin_turn(uint32_t thread) {
    uint32_t holder = 0;
    // Acquire: pairs with end_turn. A holder with the caller's own id is an earlier thread that
    // ended in its turn.
    return turn_.compare_exchange_strong(holder, thread, std::memory_order_acquire,
                                         std::memory_order_relaxed) ||
           holder == thread;
  }
  void end_turn() {
    give_back();
    turn_.store(0, std::memory_order_release);
  }
  // When begin_turn has failed for long: was the turn's holder a thread that has ended? The message
  // that it held counts as taken, every other state of the reader's line is good to go on from.
  void end_turn_of_dead() {
    uint32_t holder = turn_.load(std::memory_order_relaxed);
    if (holder != 0 && !M::thread_exists(holder))
      turn_.compare_exchange_strong(holder, 0, std::memory_order_release,
                                    std::memory_order_relaxed);
  }

  // Whether nobody has posted, slept or taken a turn yet: its pages, which the kernel has not
  // backed so far, need not be.
  bool is_untouched() const {
    return tail_.load(std::memory_order_acquire) == 0 && turn_.load(std::memory_order_relaxed) == 0;
  }

  // The bell of the owner, on which it sleeps for this mailbox and for other things.
  BasicDoorbell<M>& bell() { return bell_; }

 private:
  // Looks at the head before `tail` is read, which takes its line from the posters.
  static constexpr uint32_t kLookFurther = 64;
  // A poster prefetches the line of the cell so far ahead: its next compare-and-swap waits for it,
  // and the reader has had it since the last lap. Streams of 8 bytes: 225 ns a message, then 120.
  static constexpr uint64_t kAhead = 4;
  // How long the reader sleeps while a post is under way that began before the mark. [ns]
  static constexpr uint64_t kPosterPatienceNs = 1'000'000;

  struct alignas(kLineBytes) Cell {
    typename M::template Atomic<uint64_t> state;
    std::byte payload[kMessageMaxBytes];
  };

  // | position + 1: 48 bits | kind: 8 | bytes: 8 |; zero: never used
  struct CellState {
    uint64_t bits;

    static constexpr uint8_t kNothing = 0xff;  // in place of `bytes`
    static CellState of(uint64_t position, uint8_t kind, uint8_t bytes) {
      return {(position + 1) << 16 | static_cast<uint64_t>(kind) << 8 | bytes};
    }
    static CellState nothing(uint64_t position) { return of(position, 0, kNothing); }
    uint64_t serial() const { return bits >> 16; }
    uint8_t kind() const { return static_cast<uint8_t>(bits >> 8); }
    uint8_t bytes() const { return static_cast<uint8_t>(bits); }
    bool is_nothing(uint64_t position) const { return bits == nothing(position).bits; }
    bool is_message(uint64_t position) const {
      return serial() == position + 1 && bytes() != kNothing;
    }
  };

  // | position: 47 bits | sleeping: 1 | the last poster's number: 16 |
  struct Tail {
    uint64_t bits;

    static constexpr uint64_t kSleeping = 1ull << 16;
    uint64_t position() const { return bits >> 17; }
    bool sleeping() const { return (bits & kSleeping) != 0; }
    uint64_t last_poster() const { return bits & 0xffff; }
    Tail next(uint64_t poster) const {
      return {(position() + 1) << 17 | (bits & kSleeping) | poster};
    }
  };

  // The generation is not needed: a dead task is forgotten before its number is used again.
  static uint64_t number(Owner owner) { return owner.bits & 0xffff; }
  static uint64_t note(uint64_t position, uint64_t poster) { return (position + 1) << 16 | poster; }
  Cell& cell(uint64_t position) { return cells_[position % kCells]; }

  // Acquire: pairs with the poster's ready.
  CellState look_at(uint64_t position) {
    return {cell(position).state.load(std::memory_order_acquire)};
  }
  // Relaxed: a thread that reads `tail` by acquire finds the notes made before its swaps.
  uint64_t poster_of(uint64_t position) {
    return posters_[position % kCells].load(std::memory_order_relaxed) & 0xffff;
  }

  // An old `position` may lie before the head: its swap will fail.
  bool full(uint64_t position) {
    const auto used = [&](uint64_t head) { return static_cast<int64_t>(position - head); };
    if (used(head_seen_.load(std::memory_order_acquire)) < static_cast<int64_t>(kCells))
      return false;
    // Acquire: pairs with give_back: the payload may be overwritten. Release: for the other
    // posters.
    const uint64_t head = head_.load(std::memory_order_acquire);
    head_seen_.store(head, std::memory_order_release);
    return used(head) >= static_cast<int64_t>(kCells);
  }
  // Before a swap hides who reserved the position before: unless that poster has noted it already.
  void note_last_poster(Tail tail) {
    if (tail.position() == 0) return;
    const uint64_t last = tail.position() - 1;
    auto& slot = posters_[last % kCells];
    uint64_t seen = slot.load(std::memory_order_relaxed);
    if (seen >> 16 <= last) [[unlikely]]  // of an earlier lap
      slot.compare_exchange_strong(seen, note(last, tail.last_poster()), std::memory_order_relaxed,
                                   std::memory_order_relaxed);
  }

  Message hand_out(uint64_t position, CellState state) {
    fruitless_ = 0;
    held_ = position + 1;
    M::prefetch(&cell(position + 1));  // streams of MPI's 8 bytes: 49 ns a message, then 46
    return message_at(position, state);
  }
  Message message_at(uint64_t position, CellState state) {
    return {cell(position).payload, state.kind(), state.bytes()};
  }
  // A reader that dies in here has not given its message back, or has and still seems to hold it:
  // the next one does the same again, and nothing is taken twice.
  void give_back() {
    if (held_ == 0) return;
    const uint64_t position = held_ - 1;
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (position == head)
      head_.store(position + 1, std::memory_order_release);  // pairs with full
    else if (position > head)
      cell(position).state.store(CellState::nothing(position).bits, std::memory_order_relaxed);
    M::light_fence();  // the compiler, too, leaves it last
    held_ = 0;
  }

  // The head is reserved or nothing, or it is time to look.
  [[gnu::noinline]] Message take_further() {
    uint64_t head = head_.load(std::memory_order_relaxed);
    while (look_at(head).is_nothing(head)) ++head;
    head_.store(head, std::memory_order_release);  // pairs with full
    // Acquire: pairs with the posters' swaps. Of whoever reserved a position before this, all
    // earlier messages are ready: so the first one found is the first of its poster.
    const Tail tail{tail_.load(std::memory_order_acquire)};
    for (uint64_t position = head; position < tail.position(); ++position) {
      const CellState state = look_at(position);
      if (state.is_message(position)) return hand_out(position, state);
    }
    return {};
  }

  alignas(kLineBytes) typename M::template Atomic<uint64_t> tail_;
  typename M::template Atomic<uint64_t> head_seen_;  // by posters
  alignas(kLineBytes) typename M::template Atomic<uint64_t> head_;
  uint64_t held_;  // position + 1 of the message that the reader looks at; 0: none
  uint32_t fruitless_;
  typename M::template Atomic<uint32_t> turn_;
  BasicDoorbell<M> bell_;
  alignas(kLineBytes)
      typename M::template Atomic<uint64_t> posters_[kCells];  // position + 1, number
  Cell cells_[kCells];
};

using Mailbox = BasicMailbox<Machine>;

}  // namespace nagaya::mailbox
