// SPDX-License-Identifier: BSD-3-Clause
// stripes.h - the locks of accumulates (accumulate.h). Memory is divided into blocks of 4 KiB, and
// the number of a block, hashed, chooses its stripe:
//
//   address ──► block ──► stripe: | holder |    each in a line of its own, in zero pages of the
//   host
//
//   free (0)         -> held (an Owner)   a task, the delegatee as host: CAS, acquire
//   held             -> free              that thread: release
//   held by a task   -> free              the host, once it has reaped the task (reclaim)
//
// A thread holds one stripe at a time, so nobody can deadlock, and waits for nothing while it holds
// it. Blocks that share a stripe exclude each other without need.
//
// Progress: a holder works on at most one block. Threads that wait spin, yield, then sleep for
// kUnrungNapNs at a time (WaitTable); nobody rings them. Any of them is the next holder.
// Death of a holder, at any instruction: waiters sleep until the host has reaped it. The element
// that it was changing may be half changed.
#pragma once

#include <atomic>
#include <cstdint>

#include "mailbox/machine.h"
#include "mailbox/owner.h"
#include "mailbox/waiting.h"

namespace nagaya::llcl {

struct Stripes {
  static constexpr uint32_t kCountBits = 12, kCount = 1u << kCountBits;
  static constexpr uint64_t kBlockBytes = 4096;

  struct alignas(mailbox::kLineBytes) Stripe {
    std::atomic<uint32_t> holder;  // mailbox::Owner; 0: free
  };
  Stripe stripes[kCount];

  std::atomic<uint32_t>& holder_for(const void* address) {
    // An odd factor spreads blocks that lie side by side.
    const uint64_t hash = reinterpret_cast<uint64_t>(address) / kBlockBytes * 0x9e3779b97f4a7c15;
    return stripes[hash >> (64 - kCountBits)].holder;
  }

  // Called by the host: frees the stripes that a dead task held.
  void free_all_of(mailbox::Owner dead) {
    for (Stripe& stripe : stripes)
      if (stripe.holder.load(std::memory_order_relaxed) == dead.bits)
        stripe.holder.store(0, std::memory_order_release);  // pairs with StripeLock
  }
};

// Holds the stripe of the block at an address while it lives.
class StripeLock {
 public:
  StripeLock(Stripes& stripes, const mailbox::Load& load, mailbox::Owner self, const void* address)
      : holder_(stripes.holder_for(address)) {
    if (!try_lock(self)) [[unlikely]]
      await(load, self);
    mailbox::Machine::step(mailbox::StopPoint::kStripeHeld);
  }
  // Release: pairs with try_lock.
  ~StripeLock() { holder_.store(0, std::memory_order_release); }
  StripeLock(const StripeLock&) = delete;
  StripeLock& operator=(const StripeLock&) = delete;

 private:
  // The load keeps waiters from taking the line away from the holder.
  bool try_lock(mailbox::Owner self) {
    uint32_t nobody = 0;
    return holder_.load(std::memory_order_relaxed) == 0 &&
           holder_.compare_exchange_strong(nobody, self.bits, std::memory_order_acquire,
                                           std::memory_order_relaxed);
  }

  // Out of line: a lock that is free needs few registers.
  [[gnu::noinline]] void await(const mailbox::Load& load, mailbox::Owner self) {
    for (uint32_t n = 0; n < mailbox::WaitTable::kStripeSpins; ++n) {
      mailbox::Machine::relax();
      if (try_lock(self)) return;
    }
    mailbox::wait_unrung<mailbox::Machine>([&] { return try_lock(self); }, load);
  }

  std::atomic<uint32_t>& holder_;
};

}  // namespace nagaya::llcl
