// SPDX-License-Identifier: BSD-3-Clause
// detach.h - lets the root of a broadcast reuse its memory before all members have read it: the
// root makes a copy for the members that have not begun to read.
//
//   | begun: members that have come to read, 32 bits; detached, 1 bit | ended: members, 32 bits |
//
//   begun n -> n + 1   by a member that is about to read; it may find the detached bit set
//   ended n -> n + 1   by a member that has read the root's memory
//   -> detached        by the root, when the copy is made: a member that begins later reads the
//                      copy
//
// The root may reuse its memory when all members that began to read there have ended.
// Progress: the root waits for members that are in the middle of a copy; each wakes it at the end.
// Death of a member in the middle of a copy: the root waits until the job has ended (law 4).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nagaya::coll {

class Detachable {
 public:
  // ---- a member

  // Called before reading. Returns the copy to read from, or nullptr: the member reads the root's
  // memory, and calls end_reading() afterwards.
  const std::byte* begin_reading() {
    // Acquire: pairs with detach().
    const uint64_t before = begun_.fetch_add(1, std::memory_order_acquire);
    return (before & kDetached) != 0 ? copy_ : nullptr;
  }
  // Release: the member's reads are over before the root changes the memory. Pairs with
  // has_no_readers().
  void end_reading() { ended_.fetch_add(1, std::memory_order_release); }

  // ---- the root

  // Returns how many members have begun to read.
  uint32_t begun() const { return static_cast<uint32_t>(begun_.load(std::memory_order_relaxed)); }
  // Called instead of detach() when every member has begun to read: no copy is needed.
  void skip_copy() { awaited_ = begun(); }
  // Directs members that begin from now on to `copy`.
  void detach(const std::byte* copy) {
    copy_ = copy;
    // Release: pairs with begin_reading().
    awaited_ = static_cast<uint32_t>(begun_.fetch_or(kDetached, std::memory_order_release));
  }
  // Called after skip_copy() or detach(). Returns whether no member reads the root's memory any
  // more; none will later. Acquire: pairs with end_reading().
  bool has_no_readers() const { return ended_.load(std::memory_order_acquire) == awaited_; }

 private:
  static constexpr uint64_t kDetached = uint64_t{1} << 32;

  std::atomic<uint64_t> begun_ = 0;
  std::atomic<uint32_t> ended_ = 0;
  uint32_t awaited_ = 0;  // only the root uses it: members that began on its memory
  const std::byte* copy_ = nullptr;
};

}  // namespace nagaya::coll
