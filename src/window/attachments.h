// SPDX-License-Identifier: BSD-3-Clause
// attachments.h - the memory that a member has attached to a dynamic window: regions in the order
// of their addresses, which do not overlap.
//
//   sequence   even -> odd    the owner, before it changes the regions
//              odd -> even    the owner, afterwards
//
// A reader that finds an odd sequence, or another one after its search, searches again: the owner
// may attach and detach while others use its other regions. When the table is full, the owner makes
// one of twice the size; readers may still be in the old one, which stays until the window ends.
//
//            change   contains   free
//   change            any
//   contains any      any
//
// Progress: contains() waits for a change under way. Death of the owner in a change: readers wait
// until the job ends.
#pragma once

#include <atomic>
#include <cstdint>

namespace nagaya::llcl {
class Group;
}

namespace nagaya::window {

class Attachments {
 public:
  // Adds a region of at least one byte. Returns 0, -EEXIST (it overlaps another), -ENOMEM.
  int attach(const llcl::Group& group, uint64_t base, uint64_t bytes);
  // Removes the region that begins at `base`. Returns 0, -ENOENT.
  int detach(uint64_t base);
  // Returns whether all of [begin, begin + bytes) is attached, in one region or in several that
  // follow each other. `bytes` is not 0.
  bool contains(uint64_t begin, uint64_t bytes) const;
  // Called by the owner when nobody uses the window any more.
  void free(const llcl::Group& group);

 private:
  // The bounds are atomic because readers may read them while they change.
  struct Region {
    std::atomic<uint64_t> begin, end;
  };
  struct Table {
    Table* older;
    uint32_t capacity;
    std::atomic<uint32_t> count;

    // `capacity` of them, behind the table.
    Region& region(uint32_t n) const {
      return reinterpret_cast<Region*>(const_cast<Table*>(this) + 1)[n];
    }
  };

  static uint32_t regions_up_to(const Table& table, uint64_t address);
  static bool has(const Table& table, uint64_t begin, uint64_t end);
  Table* table_with_room(const llcl::Group& group);

  std::atomic<Table*> table_;
  std::atomic<uint32_t> sequence_;
};

}  // namespace nagaya::window
