// SPDX-License-Identifier: BSD-3-Clause
// remote_attachments.h - the memory attached to a dynamic window over several nodes, as members on
// other nodes find it: each attached region is registered with llcl, and a list of all tells the
// registrations.
//
//   Part::attached_list   | list's region | version |     a word of the owner
//   list                  | count | begin, end, region | ... |   one of two, in memory of the owner
//
// The owner writes the list that the word does not name, then the word. A reader loads the word,
// reads the list, and loads the word again: a word that has changed means that the list may have,
// too. When a list is full the owner makes larger ones; the old ones stay until the window ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "nagaya/llcl.h"

namespace nagaya::window {

struct AttachedRegion {
  uint64_t begin, end;
  uint32_t region;  // of llcl
  uint32_t reserved;
};

struct AttachedList {
  uint64_t count, capacity;
  AttachedRegion regions[];
};

inline uint32_t region_of_list(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}

// The owner's side. Called by one thread at a time.
class PublishedAttachments {
 public:
  explicit PublishedAttachments(std::atomic<uint64_t>& word) : word_(word) {}
  ~PublishedAttachments();

  // Registers and shows a region. Returns 0, -ENOSPC, -EINVAL. May throw std::bad_alloc.
  int attach(void* base, uint64_t bytes);
  // Ends what attach() has done for the region that begins at `base`, if there is one. Called
  // before the owner changes or frees the memory.
  void detach(const void* base);

 private:
  struct List {
    std::unique_ptr<uint64_t[]> words;
    nagaya_remote place;

    AttachedList& list() const { return *reinterpret_cast<AttachedList*>(words.get()); }
  };

  int make_lists(uint64_t capacity);
  void publish();

  std::atomic<uint64_t>& word_;
  std::vector<AttachedRegion> regions_;  // in the order of their addresses
  std::vector<List> lists_;              // the last two are in use
};

// The attached regions of one member, as a reader has found them.
class FoundAttachments {
 public:
  // Returns the region that contains [begin, begin + bytes), or nullptr.
  const AttachedRegion* find(uint64_t begin, uint64_t bytes) const;
  void set(std::vector<AttachedRegion> regions) { regions_ = std::move(regions); }

 private:
  std::vector<AttachedRegion> regions_;
};

}  // namespace nagaya::window
