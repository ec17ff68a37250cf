// SPDX-License-Identifier: BSD-3-Clause
// work_malloc.cc - malloc and free of blocks that are used: each page of a block is written, as
// programs do. One operation is one free, one malloc and these writes.
#include <cstdlib>
#include <vector>

#include "work.h"

namespace nagaya::bench {
namespace {

constexpr uint64_t kPageBytes = 4096;

struct Block {
  char* at = nullptr;
  uint64_t bytes = 0;
  uint64_t stamp = 0;
};

void write_pages(const Block& block) {
  for (uint64_t at = 0; at + sizeof(uint64_t) <= block.bytes; at += kPageBytes)
    *reinterpret_cast<volatile uint64_t*>(block.at + at) = block.stamp + at;
}

void check_pages(const Block& block) {
  for (uint64_t at = 0; at + sizeof(uint64_t) <= block.bytes; at += kPageBytes)
    expect(*reinterpret_cast<volatile uint64_t*>(block.at + at) == block.stamp + at,
           "a malloc block lost its data");
}

class Blocks : public Work {
 public:
  Blocks(const Order& order, size_t live) : Work(order), blocks_(live) {}
  ~Blocks() override {
    for (Block& block : blocks_) std::free(block.at);
  }
  void check() override {
    if (order_.corrupt && blocks_[0].bytes >= sizeof(uint64_t)) ++blocks_[0].stamp;
    for (const Block& block : blocks_) check_pages(block);
  }

 protected:
  void replace(Block& block, uint64_t bytes) {
    std::free(block.at);
    block = {static_cast<char*>(std::malloc(bytes)), bytes, ++stamps_ * 0x10000001u};
    expect(block.at != nullptr || bytes == 0, "malloc failed");
    write_pages(block);
  }
  std::vector<Block> blocks_;
  uint64_t stamps_ = 0;
};

// Blocks of one size, two alive at a time, so that each malloc can reuse what was freed last.
class MallocFixed : public Blocks {
 public:
  explicit MallocFixed(const Order& order) : Blocks(order, 2) {}
  void run() override {
    for (int64_t n = 0; n < order_.operations; ++n) replace(blocks_[n % 2], order_.bytes);
  }
};

// 64 blocks of random sizes from 0 to `bytes`, replaced at random; the same sequence in each mode.
class MallocMixed : public Blocks {
 public:
  explicit MallocMixed(const Order& order)
      : Blocks(order, 64), random_(0x9e3779b97f4a7c15u + static_cast<uint64_t>(order.rank)) {}
  void run() override {
    for (int64_t n = 0; n < order_.operations; ++n) {
      const uint64_t slot = next() % blocks_.size();
      replace(blocks_[slot], next() % (order_.bytes + 1));
    }
  }

 private:
  uint64_t next() {  // xorshift64
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }
  uint64_t random_;
};

}  // namespace

std::unique_ptr<Work> make_malloc_fixed(const Order& order) {
  return std::make_unique<MallocFixed>(order);
}
std::unique_ptr<Work> make_malloc_mixed(const Order& order) {
  return std::make_unique<MallocMixed>(order);
}

}  // namespace nagaya::bench
