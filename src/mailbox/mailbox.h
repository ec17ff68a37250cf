// SPDX-License-Identifier: BSD-3-Clause
// mailbox.h - a task's bounded queue of small messages. Any task of the space and the delegatee
// post; one thread at a time of the task that owns it takes.
//
//   posters' line                            reader's line    bell       256 of each
//   | tail: position, sleeping?, last poster | | head, held | | armed? | | posters | cells |
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
//   reserved -> nothing   host, for a poster that is dead (cancel_posts_of)
//   ready    -> nothing   reader, when it has taken the message past a reserved one
//   ready, nothing -> free of the next lap: reader, release of `head`
// `sleeping` is set and cleared by the reader; a poster that reserves while it is set rings the
// bell, so that the next poster rings for one that dies before it rings.
//
// The poster of each reserved position is recorded, for cancel_posts_of(): `tail` has the number of
// the last position's poster, `posters` those of earlier ones. A poster writes its number into
// `posters` after its swap, or the next poster does before its own swap.
//
// Order: FIFO per posting thread. The reader steps over reserved positions, so a poster that is
// slow or dead delays its own message only (with its cell out of use 255 more messages fit).
//
//            post          take, sleep                        cancel_posts_of
//   post     any number    any                                any, of others
//   take, take_if          one thread at a time               any
//   cancel_posts_of, clear                                    the host's one thread
// (The caller of clear is the reader meanwhile: the owner has ended, and nobody else takes.)
//
// Progress: post is lock-free, everything else is wait-free.
// Death of a poster or of the reader at each step: docs/mailbox.md.
//
// A mailbox of zeros is empty: it may lie in pages that nobody has touched.
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

// A message in its cell: valid until the next take or take_if.
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
        // The previous poster may have died before it rang.
        if (tail.sleeping()) bell_.ring();
        return -EAGAIN;
      }
      note_last_poster(tail);
      // Acquire: pairs with before_sleep (the bell is armed). Release: publishes the entries of
      // earlier posters in `posters`, for cancel_posts_of.
    } while (!tail_.compare_exchange_weak(tail.bits, tail.next(number(poster)).bits,
                                          std::memory_order_acq_rel, std::memory_order_acquire));
    const uint64_t position = tail.position();
    M::prefetch_to_write(&cell(position + kPrefetchCells));
    M::step(StopPoint::kPostReserved);
    // Relaxed: at worst the next poster has written the same value already.
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

  // Called by the reader: frees the previous message's cell, returns the next message, if any.
  Message take() {
    give_back();
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const CellState state = look_at(head);
    if (state.is_message(head)) [[likely]]
      return hand_out(head, state);
    if (!state.is_nothing(head) && ++fruitless_ < kFruitlessPollsMax) return {};
    fruitless_ = 0;
    return take_past_reserved();
  }

  // Like take(), but takes only the message at the head, and only if it is ready and
  // is_it(message).
  template <class Predicate>
  Message take_if(Predicate is_it) {
    give_back();
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const CellState state = look_at(head);
    const bool is_taken = state.is_message(head) && is_it(message_at(head, state));
    return is_taken ? hand_out(head, state) : Message{};
  }

  // Called by the reader: whether the next take() is sure to return a message. False, too, while
  // the reader holds one, or if a ready message stands behind a slow poster's.
  bool has_next() {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    return held_ == 0 && look_at(head).is_message(head);
  }

  // Called by the reader (for Waiting): asks posters to ring. Returns the longest sleep [ns]. The
  // next take() searches behind reserved positions, too.
  uint64_t before_sleep() {
    fruitless_ = kFruitlessPollsMax;
    // Release: the bell was armed; pairs with the posters' swap. Later swappers ring.
    const Tail tail{tail_.fetch_or(Tail::kSleeping, std::memory_order_acq_rel)};
    return tail.position() == head_.load(std::memory_order_relaxed) ? kNever : kPosterPatienceNs;
  }
  // Relaxed: a poster that still sees the mark rings a bell that is not armed.
  void after_sleep() { tail_.fetch_and(~Tail::kSleeping, std::memory_order_relaxed); }

  // Called by the host when it has reaped `dead`, before its number is used again: gives up the
  // positions that the dead task reserved and did not make ready.
  void cancel_posts_of(Owner dead) {
    // Loaded before `tail`: should the head move on, less is left to do.
    const uint64_t head = head_.load(std::memory_order_relaxed);
    // Acquire: pairs with the posters' swaps: every poster but the last is in `posters`.
    const Tail tail{tail_.load(std::memory_order_acquire)};
    for (uint64_t position = head; position < tail.position(); ++position) {
      // While a position is not ready, its entry in `posters` stays; later, another poster's may
      // replace it.
      if (look_at(position).serial() > position) continue;
      const uint64_t poster =
          position + 1 == tail.position() ? tail.last_poster() : poster_of(position);
      if (poster == number(dead))
        cell(position).state.store(CellState::nothing(position).bits, std::memory_order_release);
    }
    bell_.ring();  // the dead task may not have rung
  }

  // Called by the host, as the reader between two owners: when it has reaped the earlier one, and
  // before the next one starts. Takes every message that was ready before the call, and calls
  // visit(message) for each. A message that becomes ready during the call is taken, too, or is for
  // the next owner. The message that the earlier owner held when it died counts as taken.
  // Wait-free.
  template <class Visit>
  void clear(Visit visit) {
    if (is_untouched()) return;
    give_back();
    // At most kCells messages were ready before the call; the limit keeps a busy poster from
    // holding the host here.
    for (uint64_t n = 0; n < kCells; ++n) {
      fruitless_ = kFruitlessPollsMax;  // take() searches behind reserved positions at once
      const Message message = take();
      if (!message) break;
      visit(message);
    }
    after_sleep();
    bell_.disarm();
    give_back();
  }

  // Whether nobody has posted yet, and no reader sleeps. If so, the host can leave the mailbox
  // alone, and the kernel need not back its pages.
  bool is_untouched() const { return tail_.load(std::memory_order_acquire) == 0; }

  // The bell of the owner, on which it sleeps for this mailbox and for other things.
  BasicDoorbell<M>& bell() { return bell_; }

 private:
  // Polls of the head in vain before the reader loads `tail`, which takes its cache line from the
  // posters.
  static constexpr uint32_t kFruitlessPollsMax = 64;
  // A poster prefetches the cell so far ahead: the reader has had its line since the last lap, and
  // the poster's next compare-and-swap would wait for it. Streams of 8 bytes: 225 ns a message
  // without, 120 ns with it.
  static constexpr uint64_t kPrefetchCells = 4;
  // The longest sleep of the reader while a post is pending that began before `sleeping` was set.
  // [ns]
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

  // The generation is not needed: the posts of a dead task are cancelled before its number is used
  // again.
  static uint64_t number(Owner owner) { return owner.bits & 0xffff; }
  static uint64_t note(uint64_t position, uint64_t poster) { return (position + 1) << 16 | poster; }
  Cell& cell(uint64_t position) { return cells_[position % kCells]; }

  // Acquire: pairs with the release by which the poster makes the position ready.
  CellState look_at(uint64_t position) {
    return {cell(position).state.load(std::memory_order_acquire)};
  }
  // Relaxed: a thread that reads `tail` by acquire finds the entries made before the swaps of
  // `tail`.
  uint64_t poster_of(uint64_t position) {
    return posters_[position % kCells].load(std::memory_order_relaxed) & 0xffff;
  }

  // Returns whether the mailbox is full. An outdated `position` may lie before the head: the
  // caller's swap will fail.
  bool full(uint64_t position) {
    const auto used = [&](uint64_t head) { return static_cast<int64_t>(position - head); };
    if (used(head_seen_.load(std::memory_order_acquire)) < static_cast<int64_t>(kCells))
      return false;
    // Acquire: pairs with give_back: the payload may be overwritten. Release: pairs with the other
    // posters' acquire of `head_seen_`.
    const uint64_t head = head_.load(std::memory_order_acquire);
    head_seen_.store(head, std::memory_order_release);
    return used(head) >= static_cast<int64_t>(kCells);
  }
  // Called before the caller's swap overwrites the last poster's number in `tail`: writes it to
  // `posters`, unless that poster has done so already.
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
    M::prefetch(&cell(position + 1));  // MPI streams of 8 bytes: 49 ns a message without, 46 with
    return message_at(position, state);
  }
  Message message_at(uint64_t position, CellState state) {
    return {cell(position).payload, state.kind(), state.bytes()};
  }
  // Frees the cell of the held message. A reader that dies in here has not freed it, or has and
  // `held_` still names it: the next reader repeats the call, and no message is taken twice.
  void give_back() {
    if (held_ == 0) return;
    const uint64_t position = held_ - 1;
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (position == head)
      head_.store(position + 1, std::memory_order_release);  // pairs with full
    else if (position > head)
      cell(position).state.store(CellState::nothing(position).bits, std::memory_order_relaxed);
    M::light_fence();  // the compiler, too, keeps the store to held_ last
    held_ = 0;
  }

  // Called when the head position holds nothing, or has been reserved for kFruitlessPollsMax polls:
  // returns the first ready message behind it.
  [[gnu::noinline]] Message take_past_reserved() {
    uint64_t head = head_.load(std::memory_order_relaxed);
    while (look_at(head).is_nothing(head)) ++head;
    head_.store(head, std::memory_order_release);  // pairs with full
    // Acquire: pairs with the posters' swaps. A poster that reserved a position before this load
    // has made all its earlier messages ready: so the first message found is its poster's first.
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
  uint64_t held_;  // position + 1 of the message that the reader holds; 0: none
  uint32_t fruitless_;
  BasicDoorbell<M> bell_;
  alignas(kLineBytes)
      typename M::template Atomic<uint64_t> posters_[kCells];  // position + 1, number
  Cell cells_[kCells];
};

using Mailbox = BasicMailbox<Machine>;

}  // namespace nagaya::mailbox
