// SPDX-License-Identifier: BSD-3-Clause
// cooperative_copy.h - a large copy with the help of waiting threads of the node: the copier offers
// it, and waiting threads take chunks of it. The copier begins at the front, helpers begin at the
// back: if the buffers are used again, each finds its part in its own cache.
//
//   | open: 1 bit an offer | offer 0 | offer 1 | ... | offer 63 |     all zero: nothing is offered
//
//   offer:  | copier, peer, generation, target, source, bytes, layouts | 256 words for chunks |
//   chunk:  | generation (32 bits) | its taker: a mailbox::Owner; or that it is done (32)      |
//
//   offer   free -> claimed      copier     compare-and-swap of `copier`
//           claimed -> open      copier     store of `generation`: odd while it changes the rest,
//                                           then a new even one; then sets its bit
//           open -> exhausted    anybody    the last chunk is taken; the copier clears the bit
//           exhausted -> free    copier     store of `copier`, once every chunk is done
//           any -> closed        the host, once the copier has ended: every chunk that was free is
//                                done, and `copier` stays
//           closed -> free       the host: store of `copier`, once no helper is in a chunk
//   chunk   free -> taken        copier or helper, compare-and-swap. Free: of an older generation
//           taken -> done        its taker, after the copy
//           taken -> taken       copier, from a helper that has ended: copied again
//           free -> done         the host, in the stead of a copier that has ended
//
// Why a helper never touches memory of a copy that is over: it reads the generation, then target,
// source, bytes and layouts, then the same generation again, so these values belong together. It
// copies only after a compare-and-swap of a chunk that is free in that generation, and a copy that
// has returned has no free chunk. (The layouts are the copier's memory: a helper reads them only
// after that compare-and-swap.)
//
// Cache traffic: once an offer is open, a copier and one helper share no line that either writes,
// as long as each is in its half. The words of the front half of the chunks are the first words of
// the offer, the words of the back half are its last ones.
//
//            copy              help     close, release
//   copy     64 at once, more  any      of dead copiers only
//            copy alone
//   help                       any      any
//   close, release                      the host's one thread
//
// Progress: help is wait-free up to its copy. copy waits only for helpers in the middle of a chunk,
// because it may not return while a helper writes. close and release are wait-free.
// Death of a helper before it has taken a chunk: no effect, because the copier checks all chunks in
// the end. In a chunk: once the host has reaped the helper, the copier copies that chunk again.
// Death of a copier at any step: the host calls close, and no helper begins another chunk. A helper
// in the middle of a chunk still reads and writes, however long it is stopped (a debugger,
// SIGSTOP). Until that helper has finished the chunk or has been reaped, release returns false.
// Meanwhile nobody claims the offer, and the host keeps the dead task's partition, its blocks of
// the space heap and its number. Death of the peer: the host keeps its memory likewise, until the
// copy has ended. (In copies without an offer the copier alone faults.) If a side has a hole in its
// middle, the task that reaches the hole faults, and its job ends.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "layout/bytes.h"
#include "layout/runs.h"
#include "mailbox/owner.h"
#include "mailbox/waiting.h"

namespace nagaya::llcl {

// The sides of a copy that are not both one run. They must not overlap.
struct Layouts {
  layout::Walk target;
  layout::Walk source;
};

struct Copy {
  std::byte* target;
  const std::byte* source;
  uint64_t bytes;
  uint32_t peer;  // number of the task whose memory the other side is: it helps here first
  const Layouts* layouts = nullptr;  // in place of `target` and `source`
};

// mailbox::Machine with the copies of real memory, and the sizes that were measured with them.
struct CopyMachine : mailbox::Machine {
  static constexpr uint64_t kOfferedMinBytes = 32 << 10;  // less is not worth an offer
  // Larger chunks: one side waits longer for the last chunk of the other. Smaller ones: each chunk
  // costs some 50 ns. 1 MiB in 32 chunks takes 3 to 5 % longer than in 16. 64 KiB in 4 chunks, the
  // smallest allowed, takes 2.5 us, and 3.6 by the copier alone (2 processors).
  static constexpr uint64_t kChunksWanted = 16;
  static constexpr uint64_t kChunkMinBytes = 16 << 10, kChunkMaxBytes = 128 << 10;
  static constexpr uint64_t kRunsChunkMinBytes = 4 << 10;
  static constexpr uint64_t kPageBytes = 4096;  // chunks are whole pages

  static void move(std::byte* target, const std::byte* source, uint64_t bytes) {
    layout::copy_bytes(target, source, bytes);
  }
  static void move(layout::Walk target, layout::Walk source, uint64_t bytes) {
    layout::copy(target, source, bytes);
  }
};

// Node: the functions that the members below need of the node.
//   const mailbox::Load& load() const
//   bool is_alive(mailbox::Owner) const      false once the host has reaped that task
//   void wake(uint32_t task)                 wakes its sleeping threads: a copy is offered
template <class M>
class BasicCopyOffers {
 public:
  using Owner = mailbox::Owner;

  // Called by a thread of `self`: copies, with the help of waiting threads. The two sides may
  // overlap, unless they are layouts. Returns how many bytes the caller has copied itself.
  template <class Node>
  uint64_t copy(const Copy& copy, Owner self, Node&& node) {
    Offer* offer = nullptr;
    // On a crowded node a helper would only take the processor from another thread.
    if (is_worth_it(copy) && !node.load().crowded()) offer = claim(self, copy.peer);
    if (offer == nullptr) return move_part(copy, 0, copy.bytes), copy.bytes;
    touch(copy);
    const uint32_t generation = publish(*offer, copy);
    node.wake(copy.peer);
    uint64_t own_bytes = 0, bytes = 0;
    for (uint32_t index = 0; index < chunks_in(copy); ++index, own_bytes += bytes)
      if (bytes = take(*offer, copy, {generation, index}, self); bytes == 0) break;
    open_.fetch_and(~bit_of(*offer), std::memory_order_relaxed);  // a hint
    for (uint32_t index = 0; index < chunks_in(copy); ++index)
      own_bytes += see_done(*offer, copy, {generation, index}, self, node);
    offer->copier.store(0, std::memory_order_release);  // pairs with claim
    return own_bytes;
  }

  // Returns whether help() may find a chunk. One load of a line that changes with each offer only.
  bool any() const { return open_.load(std::memory_order_relaxed) != 0; }

  // Called by a waiting thread of `self`: copies one chunk of an open offer, and prefers offers
  // that name `self` as the peer. Returns the chunk's bytes; 0: no chunk is free.
  uint64_t help(Owner self) {
    const uint64_t open = open_.load(std::memory_order_relaxed);  // a hint
    for (const bool of_peer : {true, false})
      for (uint64_t bits = open; bits != 0; bits &= bits - 1) {
        Offer& offer = offers_[std::countr_zero(bits)];
        const bool is_peer = offer.peer.load(std::memory_order_relaxed) == self.number();
        if (is_peer != of_peer) continue;
        if (const uint64_t bytes = help_with(offer, self); bytes != 0) return bytes;
      }
    return 0;
  }

  // Called by the host as soon as is_alive(dead) is false. Afterwards nobody begins another chunk
  // of the dead task's copies.
  void close(Owner dead) {
    for (Offer& offer : offers_)
      if (offer.copier.load(std::memory_order_relaxed) == dead.bits) {
        open_.fetch_and(~bit_of(offer), std::memory_order_relaxed);
        end_chunks(offer);
      }
  }

  // Called by the host after close(dead). Returns true when no helper is in a chunk of the dead
  // task's copies any more, and no copy of others from or to its memory is offered: then its memory
  // may be unmapped and its number used again. Also frees the finished offers of other dead
  // copiers, because in many jobs the host does not call this for each of them.
  template <class Node>
  bool release(Owner dead, const Node& node) {
    bool is_over = true;
    for (Offer& offer : offers_) {
      const Owner copier{offer.copier.load(std::memory_order_relaxed)};
      if (copier == Owner{}) continue;
      const bool is_under_way = node.is_alive(copier) || is_in_a_chunk(offer, node);
      if (!is_under_way)
        offer.copier.store(0, std::memory_order_release);  // pairs with claim
      else if (copier == dead || offer.peer.load(std::memory_order_relaxed) == dead.number())
        is_over = false;
    }
    return is_over;
  }

 private:
  static constexpr uint32_t kOffers = 64, kChunks = 256;
  static constexpr uint32_t kDone = UINT32_MAX;  // in a chunk's word; nobody's Owner
  // Every kRefreshed generations publish() renews all words, so that no word's generation is ever
  // half of the 32-bit range old.
  static constexpr uint32_t kRefreshed = 1u << 29;

  template <class T>
  using Atomic = typename M::template Atomic<T>;

  struct Offer {
    alignas(mailbox::kLineBytes) Atomic<uint32_t> copier;  // mailbox::Owner
    Atomic<uint32_t> peer, generation;
    Atomic<uint64_t> target, source, bytes,
        layouts;  // atomic, because a late helper may read them while they change
    alignas(mailbox::kLineBytes) Atomic<uint64_t> words[kChunks];
  };

  // A generation, with the state of a chunk in it; or with the index of a chunk, as an argument.
  struct Word {
    uint32_t generation, value;

    static Word of(uint64_t bits) {
      return {static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits)};
    }
    uint64_t bits() const { return uint64_t{generation} << 32 | value; }
    bool is_older_than(uint32_t other) const {
      return static_cast<int32_t>(generation - other) < 0;
    }
  };

  static bool is_worth_it(const Copy& copy) {
    if (copy.bytes < M::kOfferedMinBytes) return false;
    if (copy.layouts != nullptr) return true;
    const uint64_t apart = copy.target > copy.source ? uint64_t(copy.target - copy.source)
                                                     : uint64_t(copy.source - copy.target);
    return apart >= copy.bytes;
  }
  static uint64_t chunk_bytes(const Copy& copy) {
    const uint64_t min = copy.layouts != nullptr ? M::kRunsChunkMinBytes : M::kChunkMinBytes;
    const uint64_t wanted = std::clamp(copy.bytes / M::kChunksWanted, min, M::kChunkMaxBytes);
    const uint64_t least = std::max(wanted, (copy.bytes + kChunks - 1) / kChunks);
    return (least + M::kPageBytes - 1) / M::kPageBytes * M::kPageBytes;
  }
  static uint32_t chunks_in(const Copy& copy) {
    return static_cast<uint32_t>((copy.bytes + chunk_bytes(copy) - 1) / chunk_bytes(copy));
  }

  // Called by the copier, or by a helper that has taken a chunk: they may read `layouts`.
  static void move_part(const Copy& copy, uint64_t begin, uint64_t bytes) {
    if (copy.layouts == nullptr) return M::move(copy.target + begin, copy.source + begin, bytes);
    M::move(copy.layouts->target.advanced_by(begin), copy.layouts->source.advanced_by(begin),
            bytes);
  }
  uint64_t bit_of(const Offer& offer) const { return 1ull << (&offer - offers_); }

  Offer* claim(Owner self, uint32_t peer) {
    for (uint32_t n = 0; n < kOffers; ++n) {
      Offer& offer = offers_[(self.bits + n) % kOffers];
      uint32_t nobody = 0;
      // Acquire: pairs with the release by the offer's last copier, whose generation publish reads.
      if (offer.copier.load(std::memory_order_relaxed) == 0 &&
          offer.copier.compare_exchange_strong(nobody, self.bits, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
        offer.peer.store(peer, std::memory_order_relaxed);
        return &offer;
      }
    }
    return nullptr;
  }

  // Reads the first and the last byte of both sides, so that a bad pointer faults in the copier and
  // not in a helper. (A bad address in the middle of runs faults in the task that reaches it.)
  static void touch(const Copy& copy) {
    const auto read = [](const volatile std::byte* at) { static_cast<void>(*at); };
    for (const uint64_t at : {uint64_t{0}, copy.bytes - 1})
      if (copy.layouts == nullptr) {
        read(copy.source + at);
        read(copy.target + at);
      } else {
        read(copy.layouts->source.advanced_by(at).at());
        read(copy.layouts->target.advanced_by(at).at());
      }
  }

  // Opens the claimed offer to helpers. Returns its new generation.
  uint32_t publish(Offer& offer, const Copy& copy) {
    // It is odd already if the last copier of this offer died while it changed the rest.
    const uint32_t odd = (offer.generation.load(std::memory_order_relaxed) + 1) | 1;
    offer.generation.store(odd, std::memory_order_relaxed);
    if (odd % kRefreshed == kRefreshed - 1)
      for (Atomic<uint64_t>& word : offer.words)
        word.store(Word{odd, kDone}.bits(), std::memory_order_relaxed);
    // Release: a helper that sees one of these sees the odd generation, too. Pairs with help_with.
    offer.target.store(reinterpret_cast<uint64_t>(copy.target), std::memory_order_release);
    offer.source.store(reinterpret_cast<uint64_t>(copy.source), std::memory_order_release);
    offer.bytes.store(copy.bytes, std::memory_order_release);
    offer.layouts.store(reinterpret_cast<uint64_t>(copy.layouts), std::memory_order_release);
    // Release: the source's data. Pairs with help_with.
    offer.generation.store(odd + 1, std::memory_order_release);
    open_.fetch_or(bit_of(offer), std::memory_order_relaxed);  // a hint
    return odd + 1;
  }

  // Copies the last free chunk of the offer. Returns its bytes; 0: no chunk is free.
  uint64_t help_with(Offer& offer, Owner self) {
    // Acquire: pairs with publish.
    const uint32_t generation = offer.generation.load(std::memory_order_acquire);
    // Acquire: these loads, which pair with publish, come before the second load of the generation.
    const Copy copy{
        reinterpret_cast<std::byte*>(offer.target.load(std::memory_order_acquire)),
        reinterpret_cast<const std::byte*>(offer.source.load(std::memory_order_acquire)),
        offer.bytes.load(std::memory_order_acquire), 0,
        reinterpret_cast<const Layouts*>(offer.layouts.load(std::memory_order_acquire))};
    if (generation % 2 != 0 || offer.generation.load(std::memory_order_relaxed) != generation)
      return 0;
    for (uint32_t index = chunks_in(copy); index-- != 0;)
      if (const uint64_t bytes = take(offer, copy, {generation, index}, self); bytes != 0)
        return bytes;
    return 0;
  }

  // Copies chunk which.value of generation which.generation, if it is free. Returns its bytes; 0:
  // it was not free.
  uint64_t take(Offer& offer, const Copy& copy, Word which, Owner self) {
    const uint64_t before = word_of(offer, copy, which.value).load(std::memory_order_relaxed);
    if (!Word::of(before).is_older_than(which.generation)) return 0;
    return copy_chunk(offer, copy, which, before, self);
  }

  static Atomic<uint64_t>& word_of(Offer& offer, const Copy& copy, uint32_t index) {
    const uint32_t chunks = chunks_in(copy);
    return offer.words[index < chunks / 2 ? index : kChunks - chunks + index];
  }

  // Takes and copies chunk which.value of generation which.generation, if its word is still
  // `before`. Returns its bytes; 0: it was not.
  uint64_t copy_chunk(Offer& offer, const Copy& copy, Word which, uint64_t before, Owner self) {
    Atomic<uint64_t>& chunk = word_of(offer, copy, which.value);
    const uint64_t taken = Word{which.generation, self.bits}.bits();
    // Acquire: the copy comes after it.
    if (!chunk.compare_exchange_strong(before, taken, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return 0;
    const uint64_t begin = which.value * chunk_bytes(copy);
    const uint64_t bytes = std::min(chunk_bytes(copy), copy.bytes - begin);
    move_part(copy, begin, bytes);
    // Nobody else has changed the word: the task that took the chunk lives. Release: pairs with
    // see_done and is_in_a_chunk.
    chunk.store(Word{which.generation, kDone}.bits(), std::memory_order_release);
    return bytes;
  }

  // Called by the copier: returns when the chunk is done. Copies it if it is free, or if the task
  // that took it has ended. Returns the bytes that it has copied.
  template <class Node>
  uint64_t see_done(Offer& offer, const Copy& copy, Word which, Owner self, Node& node) {
    uint64_t seen, bytes = 0;
    const auto is_done = [&] {
      // Acquire: pairs with copy_chunk.
      seen = word_of(offer, copy, which.value).load(std::memory_order_acquire);
      return seen == Word{which.generation, kDone}.bits();
    };
    while (!is_done()) {
      const bool free = Word::of(seen).generation != which.generation;
      if (free || !node.is_alive({Word::of(seen).value}))
        bytes += copy_chunk(offer, copy, which, seen, self);
      else
        mailbox::wait_unrung<M>([&] { return is_done() || !node.is_alive({Word::of(seen).value}); },
                                node.load());
    }
    return bytes;
  }

  // Called by the host: marks every free chunk as done, so that nobody takes it.
  static void end_chunks(Offer& offer) {
    const uint32_t generation = offer.generation.load(std::memory_order_relaxed);
    for (Atomic<uint64_t>& chunk : offer.words) {
      uint64_t before = chunk.load(std::memory_order_relaxed);
      while (Word::of(before).is_older_than(generation) &&
             !chunk.compare_exchange_strong(before, Word{generation, kDone}.bits(),
                                            std::memory_order_relaxed, std::memory_order_relaxed))
        continue;
    }
  }

  // Called by the host once no chunk is free: returns whether a living helper is in one.
  template <class Node>
  static bool is_in_a_chunk(const Offer& offer, const Node& node) {
    return std::any_of(offer.words, offer.words + kChunks, [&](const Atomic<uint64_t>& chunk) {
      const Word word = Word::of(chunk.load(std::memory_order_acquire));  // of copy_chunk
      return word.value != kDone && word.value != 0 && node.is_alive({word.value});
    });
  }

  alignas(mailbox::kLineBytes) Atomic<uint64_t> open_;
  Offer offers_[kOffers];
};

using CopyOffers = BasicCopyOffers<CopyMachine>;

}  // namespace nagaya::llcl
