// SPDX-License-Identifier: BSD-3-Clause
// block_memory.h - the memory of a process's block, shadow included.
//
//   large   by mapping: nobody has touched its pages, so threads that use their parts of it first
//           have them near by. From a multiple of a huge page on, and the kernel is asked for them:
//           many give them to those only that ask.
//   small   by the allocator
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/fd.h"

namespace nagaya::array {

class BlockMemory {
 public:
  // All zero. `name`: the array's, which chooses a line of a page where the block begins. Large
  // allocations begin at one place of a page each: a loop over equal indexes of many arrays would
  // find all of them in one set of the cache. May throw std::bad_alloc.
  BlockMemory(size_t bytes, uint64_t name);

  std::byte* begin() const { return begin_; }  // aligned to a line

 private:
  std::byte* allocate(size_t bytes);
  std::byte* map(size_t bytes);

  std::unique_ptr<std::byte, void (*)(void*)> allocated_;
  base::Mapping mapped_;
  std::byte* begin_;
};

}  // namespace nagaya::array
