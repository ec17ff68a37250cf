// SPDX-License-Identifier: BSD-3-Clause
// turns.h - which thread of a task uses match and coll while they are open for one thread only: the
// program's thread or, while that one is in the MPI beneath, the completer (completer.h).
//
//   mine      the program's thread may use them
//   away      nobody uses them: the program's thread is in the MPI beneath
//   held      the completer uses them: the program's thread is in the MPI beneath
//   awaited   the completer uses them, and the program's thread waits until it gives them back
//
//   mine    -> away      leave()        program's thread
//   away    -> mine      come_back()    program's thread
//   away    -> held      take()         completer
//   held    -> away      give_back()    completer
//   held    -> awaited   come_back()    program's thread, which then sleeps
//   awaited -> mine      give_back()    completer, which then wakes it
//
// The release of each arrow pairs with the acquire of the next one: a thread sees all that the
// other has done.
// Progress: take() and give_back() are wait-free; come_back() waits for one poll of the completer.
// Death: both threads are of one task, and end together.
#pragma once

#include "mailbox/machine.h"

namespace nagaya::mpi {

// kSpins: tries of come_back() before it sleeps. A poll of the completer in vain takes less.
template <class M, uint32_t kSpins = 200>
class BasicTurns {
 public:
  // Sequentially consistent: before the caller's next load, see Completer::wake_if_dormant().
  void leave() { word_.store(kAway, std::memory_order_seq_cst); }

  void come_back() {
    if (!move(kAway, kMine)) [[unlikely]]
      await();
  }

  bool take() { return move(kAway, kHeld); }

  void give_back() {
    if (move(kHeld, kAway)) return;
    move(kAwaited, kMine);
    M::futex_wake(word_);
  }

  // Whether the program's thread is away, or waits to come back.
  bool is_away() const { return word_.load(std::memory_order_seq_cst) != kMine; }

 private:
  static constexpr uint32_t kMine = 0, kAway = 1, kHeld = 2, kAwaited = 3;

  bool move(uint32_t from, uint32_t to) {
    return word_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }
  // Not inline, because every function of MPI that may wait has a come_back().
  [[gnu::noinline]] void await() {
    for (uint32_t n = 0; n < kSpins; ++n) {
      M::relax();
      if (move(kAway, kMine)) return;
    }
    while (!move(kHeld, kAwaited))
      if (move(kAway, kMine)) return;
    while (word_.load(std::memory_order_acquire) == kAwaited)
      M::futex_wait(word_, kAwaited, mailbox::kNever);
  }

  typename M::template Atomic<uint32_t> word_{};  // kMine
};

using Turns = BasicTurns<mailbox::Machine>;

}  // namespace nagaya::mpi
