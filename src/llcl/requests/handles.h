// SPDX-License-Identifier: BSD-3-Clause
// handles.h - numbers by which a process names its own objects to other processes, because a
// process never follows a pointer that another node has sent back. A number that was never given,
// or that was taken back, leads to nothing.
//
//   handle: generation << 32 | place + 1; 0 is nobody's
//
// Private to its owner, which calls from one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

namespace nagaya::llcl {

template <class Object>
class Handles {
 public:
  // Returns a handle for the object, valid until take_back(). May throw std::bad_alloc; then
  // nothing has changed.
  uint64_t give(const Object& object) {
    if (free_.empty()) {
      free_.reserve(entries_.size() + 1);
      entries_.push_back({});
      free_.push_back(static_cast<uint32_t>(entries_.size() - 1));
    }
    const uint32_t place = free_.back();
    free_.pop_back();
    entries_[place].object = object;
    entries_[place].is_given = true;
    return uint64_t{entries_[place].generation} << 32 | (place + 1);
  }
  void take_back(uint64_t handle) {
    Entry* const entry = find_entry(handle);
    if (entry == nullptr) return;
    *entry = {{}, entry->generation + 1, false};
    free_.push_back(static_cast<uint32_t>(entry - entries_.data()));
  }
  // Returns the handle's object, valid until the next give() or take_back(); nullptr: it has none.
  Object* find(uint64_t handle) {
    Entry* const entry = find_entry(handle);
    return entry == nullptr ? nullptr : &entry->object;
  }

 private:
  struct Entry {
    Object object;
    uint32_t generation;
    bool is_given;
  };

  Entry* find_entry(uint64_t handle) {
    const uint64_t place = (handle & UINT32_MAX) - 1;
    if (place >= entries_.size()) return nullptr;
    Entry& entry = entries_[place];
    const bool is_it = entry.is_given && entry.generation == handle >> 32;
    return is_it ? &entry : nullptr;
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;  // places; never grows beyond what give has reserved
};

}  // namespace nagaya::llcl
