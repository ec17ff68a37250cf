// SPDX-License-Identifier: BSD-3-Clause
// block_pool.h - blocks of memory that a task lends to the receivers of its messages, with the
// bodies in them.
//
//   | block | block | ... |         written by the owner while they are its own
//   | returned | returned | ... |   one word each, written by receivers only
//
//   own  -> lent   owner      take: with a new serial, which `returned` does not hold
//   lent -> back   receiver   store of the serial to `returned`, after its last read
//   back -> own    owner      take, when it has none left: looks at all of them
//
// The owner reads the `returned` words once per round through its blocks (as long as receivers give
// some back in each round). It does not write them, so that a receiver gives a block back by a
// store into a line that stays in the receiver's cache. Blocks that a flag gives back are the
// exception: take_for_flag() resets their words.
//
// Threads: the owner's call take(), one at a time. The holder of a loan calls give_back().
//
// Death of a receiver: its loans never come back; its job has ended by then (law 4). Death of the
// owner: its partition stays until the job has ended (law 3).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "llcl/board/port_cell.h"

namespace nagaya::llcl {

class BlockPool {
 public:
  // `all_bytes`: limit of all blocks together; four blocks are allowed in any case.
  BlockPool(size_t block_bytes, size_t all_bytes)
      : stride_((block_bytes + kLine - 1) / kLine * kLine + kLine),
        blocks_max_(std::max(kFirstMin, all_bytes / stride_)) {}

  size_t block_bytes() const { return stride_ - kLine; }
  // Lends a block. False: all blocks that the limit allows are lent. May throw std::bad_alloc.
  bool take(Loan& out) {
    Block* const block = take_own();
    if (block == nullptr) return false;
    block->has_flag = false;
    out = {block->data, block->returned, ++block->serial};
    return true;
  }
  // Lends a block that is given back by a flag: `returned` is 0 now and becomes 1, or an error's
  // number. Returns and throws as take().
  bool take_for_flag(Loan& out) {
    Block* const block = take_own();
    if (block == nullptr) return false;
    block->serial = 1;
    block->has_flag = true;
    block->returned->store(0, std::memory_order_relaxed);
    out = {block->data, block->returned, block->serial};
    return true;
  }

 private:
  static constexpr size_t kLine = mailbox::kLineBytes;
  static constexpr size_t kFirstBytes = 256 << 10;
  static constexpr size_t kFirstMin = 4;

  struct Block {
    std::byte* data;
    std::atomic<uint32_t>* returned;
    uint32_t serial;  // of its last loan
    bool has_flag;    // any word but 0 gives it back: errors, too
  };
  struct Free {
    void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{kLine}); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  static Memory allocate(size_t bytes) {
    return Memory(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kLine})));
  }

  Block* take_own() {
    if (own_.empty() && !collect() && !grow()) return nullptr;
    const uint32_t number = own_.back();
    own_.pop_back();
    return &blocks_[number];
  }
  bool collect() {
    for (uint32_t number = 0; number < blocks_.size(); ++number) {
      const Block& block = blocks_[number];
      // Acquire: pairs with give_back; the receiver's reads of the block are over.
      const uint32_t word = block.returned->load(std::memory_order_acquire);
      if (block.has_flag ? word != 0 : word == block.serial) own_.push_back(number);
    }
    return !own_.empty();
  }

  // Doubles the number of blocks, up to blocks_max_. False: there are that many.
  bool grow() {
    const size_t before = blocks_.size();
    const size_t wanted = before != 0 ? before : std::max(kFirstMin, kFirstBytes / stride_);
    const size_t count = std::min(wanted, blocks_max_ - before);
    if (count == 0) return false;
    Memory data = allocate(count * stride_);
    Memory words = allocate(count * sizeof(std::atomic<uint32_t>));
    blocks_.reserve(before + count);
    own_.reserve(before + count);
    memory_.reserve(memory_.size() + 2);
    for (size_t n = 0; n < count; ++n) {
      auto* const word = reinterpret_cast<std::atomic<uint32_t>*>(words.get()) + n;
      blocks_.push_back({data.get() + n * stride_, new (word) std::atomic<uint32_t>(0), 0, false});
      own_.push_back(static_cast<uint32_t>(before + n));
    }
    memory_.push_back(std::move(data));
    memory_.push_back(std::move(words));
    return true;
  }

  size_t stride_;  // a line more than a block, so that blocks begin in different sets of a cache
  size_t blocks_max_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> own_;  // numbers of the blocks that are not lent
  std::vector<Memory> memory_;
};

}  // namespace nagaya::llcl
