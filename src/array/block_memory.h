// SPDX-License-Identifier: BSD-3-Clause
// block_memory.h - the memory of a process's block, shadow included.
//
//   large   by a mapping of untouched pages: each page lies near the thread that uses it first. The
//           block begins near a multiple of the size of a huge page. The mapping asks the kernel
//           for huge pages, because many kernels give them only on request.
//   small   by the allocator
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/fd.h"

namespace nagaya::array {

class BlockMemory {
 public:
  // The memory is zero. `name`, the array's, chooses the line of a page at which the block begins.
  // If all large blocks began at the same line, a loop over equal indexes of many arrays would find
  // all of them in one set of the cache. May throw std::bad_alloc.
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
