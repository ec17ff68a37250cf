// SPDX-License-Identifier: BSD-3-Clause
#include "array/block_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "mailbox/machine.h"

namespace nagaya::array {
namespace {

using mailbox::kLineBytes;
constexpr size_t kLinesPerPage = 64;
constexpr size_t kHugePageBytes = 2 << 20;
// The first touch of a huge page takes memory for all of it, so a large block must hold several.
constexpr size_t kLargeBytes = 2 * kHugePageBytes;

std::byte* aligned(std::byte* memory, size_t alignment) {
  return memory + (alignment - reinterpret_cast<uintptr_t>(memory) % alignment) % alignment;
}

}  // namespace

BlockMemory::BlockMemory(size_t bytes, uint64_t name) : allocated_(nullptr, std::free) {
  bytes += kLinesPerPage * kLineBytes;
  begin_ = (bytes < kLargeBytes ? allocate(bytes) : map(bytes)) + name % kLinesPerPage * kLineBytes;
}

std::byte* BlockMemory::allocate(size_t bytes) {
  allocated_.reset(static_cast<std::byte*>(std::calloc(bytes + kLineBytes, 1)));
  if (allocated_ == nullptr) throw std::bad_alloc();
  return aligned(allocated_.get(), kLineBytes);
}

std::byte* BlockMemory::map(size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes + kHugePageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapped_ = base::Mapping(memory, bytes + kHugePageBytes);
  std::byte* const begin = aligned(mapped_.data(), kHugePageBytes);
  ::madvise(begin, bytes, MADV_HUGEPAGE);  // if refused, its pages are small
  return begin;
}

}  // namespace nagaya::array
