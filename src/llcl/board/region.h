// SPDX-License-Identifier: BSD-3-Clause
// region.h - the memory of a node's tasks that others may reach: one table for the node.
//
//   | owner | id | base | bytes |     65,536 entries, in zero pages of the host
//
//   id: generation << 16 | index. Any process may hold an id for ever: find() returns an error once
//   the region was deregistered, or another one has its entry.
//
//   free       owner 0                      -> claimed     any task, compare-and-swap of `owner`
//   claimed    owner set, id 0              -> registered  that task, store of `id`
//   registered                              -> claimed     that task, store of id 0
//   claimed                                 -> free        that task, or the host after its end
//
//            claim   register   find   deregister
//   find     any     any        any    any: the region as it was, or none. (Its owner sees to it
//                                      that nobody uses the memory any more.)
//
// Why find never mixes two regions: it reads the id, then owner, base and bytes, then the id again.
// An entry's owner, base and bytes change only while its id is another one, so values read between
// two equal ids belong together. (An id comes again after 65,535 regions in its entry.)
//
// Progress: lock-free claim, everything else wait-free. Death of an owner at any step: the host
// frees all entries with its name, before its number is used again.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "mailbox/machine.h"
#include "mailbox/owner.h"

namespace nagaya::llcl {

struct RegionMemory {
  std::byte* address;  // nullptr: no such region
  uint64_t bytes;
};

struct Found {
  std::byte* address;
  int error;  // 0 or a negative errno
};

template <class M, uint32_t kEntries = 1 << 16>
class BasicRegionTable {
  static_assert(kEntries <= 1 << 16);

 public:
  static constexpr uint32_t kRegions = kEntries;
  static constexpr uint32_t kNone = 0;  // no region's id

  // Registers memory of `owner`. Returns the region's id; kNone: all entries are taken. (A full
  // table is not searched again before an entry was freed, because senders retry often.)
  uint32_t add(mailbox::Owner owner, void* base, uint64_t bytes) {
    const uint64_t freed = freed_.load(std::memory_order_acquire);  // pairs with remove
    if (full_.load(std::memory_order_relaxed) == freed + 1) return kNone;
    const uint32_t begin = hint_.load(std::memory_order_relaxed);
    for (uint32_t n = 0; n < kRegions; ++n) {
      const uint32_t index = (begin + n) % kRegions;
      Entry& entry = entries_[index];
      if (entry.owner.load(std::memory_order_relaxed) != 0) continue;
      raise_end(index + 1);  // before the claim: then remove_all finds the entry of a killed task
      uint32_t nobody = 0;
      // Acquire: pairs with the release of the entry's last owner, which has cleared the id.
      if (!entry.owner.compare_exchange_strong(nobody, owner.bits, std::memory_order_acquire,
                                               std::memory_order_relaxed))
        continue;
      hint_.store(index + 1, std::memory_order_relaxed);
      // Release: a reader that sees one of these sees the id cleared, too. Pairs with find_region.
      entry.base.store(reinterpret_cast<uint64_t>(base), std::memory_order_release);
      entry.bytes.store(bytes, std::memory_order_release);
      entry.generation = entry.generation == 0xffff ? 1 : entry.generation + 1;
      const uint32_t id = entry.generation << 16 | index;
      entry.id.store(id, std::memory_order_release);  // base and bytes; pairs with find_region
      return id;
    }
    full_.store(freed + 1, std::memory_order_relaxed);
    return kNone;
  }

  // Deregisters a region. Returns 0 or -EINVAL: not a region of `owner`.
  int remove(mailbox::Owner owner, uint32_t id) {
    Entry& entry = entries_[(id & 0xffff) % kRegions];
    if (entry.owner.load(std::memory_order_relaxed) != owner.bits) return -EINVAL;
    // If two threads remove the same region, one succeeds.
    if (id == kNone || !entry.id.compare_exchange_strong(id, kNone, std::memory_order_relaxed,
                                                         std::memory_order_relaxed))
      return -EINVAL;
    endings_.fetch_add(1, std::memory_order_release);  // pairs with endings
    entry.owner.store(0, std::memory_order_release);   // after the id; pairs with add, find_region
    freed_.fetch_add(1, std::memory_order_release);    // after the owner; pairs with add
    return 0;
  }

  // Called by the host when a task has ended: frees all its entries.
  void remove_all(mailbox::Owner dead) {
    const uint32_t end = end_.load(std::memory_order_relaxed);
    for (uint32_t index = 0; index < end; ++index) {
      Entry& entry = entries_[index];
      if (entry.owner.load(std::memory_order_relaxed) != dead.bits) continue;
      entry.id.store(kNone, std::memory_order_relaxed);
      endings_.fetch_add(1, std::memory_order_release);  // pairs with endings
      entry.owner.store(0, std::memory_order_release);   // the id is cleared; add, find_region
    }
    // Counts also the entry that the task was freeing when it died.
    freed_.fetch_add(1, std::memory_order_release);
  }

  // Returns the address of [offset, offset + bytes) in a region of that task. -EINVAL: no such
  // region, or the range exceeds it.
  Found find(uint32_t id, uint32_t task, uint64_t offset, uint64_t bytes) const {
    const RegionMemory region = find_region(id, task);
    if (region.address == nullptr || offset > region.bytes || bytes > region.bytes - offset)
      return {nullptr, -EINVAL};
    return {region.address + offset, 0};
  }

  RegionMemory find_region(uint32_t id, uint32_t task) const {
    const Entry& entry = entries_[(id & 0xffff) % kRegions];
    // Acquire: pairs with add; base and bytes are at least as new as the id.
    if (id == kNone || entry.id.load(std::memory_order_acquire) != id) return {nullptr, 0};
    // Acquire: pairs with the stores of the entry's next owner, and with the clearing of `owner`
    // before them, so that the second load of the id finds it cleared.
    const mailbox::Owner owner{entry.owner.load(std::memory_order_acquire)};
    const uint64_t base = entry.base.load(std::memory_order_acquire);
    const uint64_t bytes = entry.bytes.load(std::memory_order_acquire);
    if (owner.number() != task || entry.id.load(std::memory_order_relaxed) != id)
      return {nullptr, 0};
    return {reinterpret_cast<std::byte*>(base), bytes};
  }

  // Returns a count that grows whenever a region is deregistered or its owner has ended. Acquire:
  // pairs with remove and remove_all.
  uint64_t endings() const { return endings_.load(std::memory_order_acquire); }

 private:
  template <class T>
  using Atomic = typename M::template Atomic<T>;

  struct Entry {
    Atomic<uint32_t> owner;  // mailbox::Owner
    Atomic<uint32_t> id;
    uint32_t generation;
    Atomic<uint64_t> base, bytes;
  };

  void raise_end(uint32_t least) {
    uint32_t end = end_.load(std::memory_order_relaxed);
    while (end < least && !end_.compare_exchange_weak(end, least, std::memory_order_relaxed,
                                                      std::memory_order_relaxed))
      continue;
  }

  Atomic<uint32_t> hint_;  // where a free entry may be
  Atomic<uint32_t> end_;   // entries from here on were never taken
  Atomic<uint64_t> endings_;
  Atomic<uint64_t> freed_;  // grows after each freeing of entries
  Atomic<uint64_t> full_;   // 1 + what `freed_` was before all entries were seen taken
  Entry entries_[kRegions];
};

using RegionTable = BasicRegionTable<mailbox::Machine>;

}  // namespace nagaya::llcl
