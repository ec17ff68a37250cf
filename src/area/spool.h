// SPDX-License-Identifier: BSD-3-Clause
// spool.h - allocates blocks of the caller's memory for messages that wait for their headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace nagaya::area {

class Spool {
 public:
  bool is_set() const { return bytes_ != 0; }
  bool is_empty() const { return used_.empty(); }
  uint64_t patience_us() const { return patience_us_; }

  // Replaces the memory. Returns false, and changes nothing, while a message is in the old one.
  bool set(void* memory, size_t bytes, uint64_t patience_us);
  // Returns the lowest free block of that size; nullptr: none. May throw std::bad_alloc.
  std::byte* allocate(size_t bytes);
  void free(std::byte* block) { used_.erase(block); }

 private:
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  uint64_t patience_us_ = 0;
  std::map<std::byte*, size_t> used_;  // blocks, and their sizes
};

}  // namespace nagaya::area
