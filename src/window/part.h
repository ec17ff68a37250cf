// SPDX-License-Identifier: BSD-3-Clause
// part.h - the memory of a window that its members on one node share: one Part for each of them,
// all zero at first (llcl/board/group.h). Members on other nodes use it by requests.
//
//   line 0    where the member's memory lies     written while the window is opened, then read;
//             has_lock_all, attachments, list    written later, seldom
//   line 1    turns, fence                       used in the node's first Part only
//             awaited                            the lock for which the member waits
//   line 2    lock, exposure                     of the member as a target; its posts as an origin
//   more      posts of ranks from 320 on
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mailbox/machine.h"
#include "window/attachments.h"
#include "window/awaited_lock.h"
#include "window/target_lock.h"
#include "window/turns.h"

namespace nagaya::window {

struct Part {
  // The first Part's: whether the bases of a contiguous window are stored, or its error. (The other
  // fields are stored before the member's first arrival.)
  static constexpr int32_t kNotPlaced = 0, kPlaced = 1;
  alignas(mailbox::kLineBytes) std::atomic<int32_t> placement;
  int32_t error;
  uint32_t kind;  // nagaya_window_kind
  // The first Part's: not 0 once the node's targets know that a member has called lock_all, and all
  // exclusive locks of before are gone (turns.h).
  std::atomic<uint32_t> has_lock_all;
  std::byte* base;
  uint64_t bytes, unit;
  Attachments attachments;              // of a dynamic window
  std::atomic<uint64_t> attached_list;  // of one over several nodes: remote_attachments.h

  alignas(mailbox::kLineBytes) Turns turns;
  std::atomic<uint64_t> arrived;  // at the opening, fences and the closing so far, by all members
  AwaitedLock awaited;

  alignas(mailbox::kLineBytes) TargetLock lock;
  std::atomic<uint64_t> completed;  // complete() calls to this target so far
  // Bit r: rank r has posted to this member, which has not started that epoch yet. As many words
  // as the window needs.
  static constexpr uint32_t kWordsInLine = 5;
  std::atomic<uint64_t> posts[kWordsInLine];
  // The word that has the bit of `rank`: in `posts`, or behind this Part.
  std::atomic<uint64_t>& posts_from(uint32_t rank) {
    std::byte* const first = reinterpret_cast<std::byte*>(this) + offsetof(Part, posts);
    return reinterpret_cast<std::atomic<uint64_t>*>(first)[rank / 64];
  }

  static uint64_t bytes_for(uint32_t members) {
    const uint64_t words = (members + 63) / 64;
    const uint64_t more = words > kWordsInLine ? words - kWordsInLine : 0;
    return sizeof(Part) + more * sizeof(uint64_t);
  }
};
static_assert(sizeof(Part) == 3 * mailbox::kLineBytes);

}  // namespace nagaya::window
