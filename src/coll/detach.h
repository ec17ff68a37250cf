// SPDX-License-Identifier: BSD-3-Clause
// detach.h - how the root of a broadcast gets its memory back before all members have read it: it
// makes a copy for those that have not begun.
//
//   | begun: members that have come to read, 32 bits; detached, 1 bit | ended: members, 32 bits |
//
//   begun n -> n + 1   a member that is about to read; it may find the word detached
//   ended n -> n + 1   a member that has read the root's memory
//   -> detached        the root, when the copy is there: a member that begins from now on reads
//                      that
//
// The root's memory is its own again when all that have begun to read there have ended.
// Progress: the root waits for members that are in the middle of a copy; each wakes it at the end.
// Death of such a member: the root waits until the job has ended (law 4).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nagaya::coll {

class Detachable {
 public:
  // ---- a member

  // nullptr: from the root's memory, until end_reading(). Else from the copy.
  const std::byte* begin_reading() {
    // Acquire: pairs with detach().
    const uint64_t before = begun_.fetch_add(1, std::memory_order_acquire);
    return (before & kDetached) != 0 ? copy_ : nullptr;
  }
  // Release: it was read before the root changes it. Pairs with is_unread().
  void end_reading() { ended_.fetch_add(1, std::memory_order_release); }

  // ---- the root

  uint32_t begun() const { return static_cast<uint32_t>(begun_.load(std::memory_order_relaxed)); }
  // Nobody else will begin.
  void keep_together() { awaited_ = begun(); }
  void detach(const std::byte* copy) {
    copy_ = copy;
    // Release: pairs with begin_reading().
    awaited_ = static_cast<uint32_t>(begun_.fetch_or(kDetached, std::memory_order_release));
  }
  // After one of these: nobody reads the root's memory, nor will. Acquire: pairs with
  // end_reading().
  bool is_unread() const { return ended_.load(std::memory_order_acquire) == awaited_; }

 private:
  static constexpr uint64_t kDetached = uint64_t{1} << 32;

  std::atomic<uint64_t> begun_ = 0;
  std::atomic<uint32_t> ended_ = 0;
  uint32_t awaited_ = 0;  // the root's
  const std::byte* copy_ = nullptr;
};

}  // namespace nagaya::coll
