// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "coll/in_order.h"
#include "coll/pieces.h"
#include "coll/reduce.h"
#include "coll/share.h"

namespace nagaya::coll {
namespace {

// A larger radix makes fewer levels, but more lines to load at each: of 64 members each loads 9
// lines in 3 levels with radix 4, and 14 lines in 2 levels with radix 8.
constexpr uint32_t kRadix = 4;

uint32_t levels_of(uint32_t members) {
  uint32_t levels = 1;
  for (uint64_t ranks = kRadix; ranks < members; ranks *= kRadix) ++levels;
  return levels;
}

size_t bytes_of(const nagaya_collective& what) {
  return what.kind == NAGAYA_BARRIER ? 0 : what.elements.count * what.elements.extent;
}
bool is_scan(const nagaya_collective& what) {
  return what.kind == NAGAYA_SCAN || what.kind == NAGAYA_EXSCAN;
}

// The blocks of ranks that become one at level `number`, seen from one of their members.
class Level {
 public:
  Level(const Operation& operation, uint32_t number)
      : operation_(operation), number_(number), block_ranks_(1) {
    for (uint32_t n = 0; n < number; ++n) block_ranks_ *= kRadix;
    begin_ = operation.rank() / (block_ranks_ * kRadix) * (block_ranks_ * kRadix);
    const uint32_t ranks = std::min(block_ranks_ * kRadix, operation.size() - begin_);
    blocks_ = (ranks + block_ranks_ - 1) / block_ranks_;
  }

  uint32_t blocks() const { return blocks_; }
  uint32_t own_block() const { return (operation_.rank() - begin_) / block_ranks_; }
  bool begins_own_block() const { return operation_.rank() % block_ranks_ == 0; }
  bool is_last() const { return block_ranks_ * kRadix >= operation_.size(); }

  // Whether this member combines the blocks at this level; REDUCE: only one member does.
  bool is_awaited() const {
    const nagaya_collective& what = operation_.what();
    if (what.kind != NAGAYA_REDUCE) return true;
    return operation_.rank() == (is_last() ? what.root : begin_);
  }
  bool has_all() const {
    // At the last level of a scan the blocks behind this member's own do not belong to its result.
    const uint32_t end = is_last() && is_scan(operation_.what()) ? own_block() + 1 : blocks_;
    for (uint32_t block = 0; block < end; ++block)
      if (!operation_.has_posted(source_rank_of(block), number_)) return false;
    return true;
  }
  const std::byte* block(uint32_t block) const {
    return operation_.line(source_rank_of(block)).data() + number_ * bytes_of(operation_.what());
  }

 private:
  // Returns the rank from whose line this member loads a block. REDUCE: the block's first rank,
  // which alone has the combined elements; else the rank at this member's own place in the block.
  uint32_t source_rank_of(uint32_t block) const {
    const uint32_t first = begin_ + block * block_ranks_;
    if (operation_.what().kind == NAGAYA_REDUCE) return first;
    const uint32_t ranks = std::min(block_ranks_, operation_.size() - first);
    return first + operation_.rank() % block_ranks_ % ranks;
  }

  const Operation& operation_;
  const uint32_t number_;
  uint32_t block_ranks_;  // ranks in a block; the team's last block may have fewer
  uint32_t begin_;        // the first block's first rank
  uint32_t blocks_;
};

void post(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = bytes_of(what);
  if (bytes != 0) operation.new_scratch(bytes);
  operation.post_data(levels_of(operation.size()) * bytes, [&](std::byte* to) {
    layout::gather(layout::Buffer(what.send.base, bytes, what.send.runs), to, bytes);
  });
}

// SCAN, EXSCAN: combines the blocks before the member's own with its result so far, in rank order.
void scan(const Operation& operation, const Level& level) {
  const nagaya_collective& what = operation.what();
  const bool includes_own = what.kind == NAGAYA_SCAN && operation.next == 0;
  uint32_t blocks = level.own_block() + includes_own;
  if (blocks == 0) return;
  auto* const result = static_cast<std::byte*>(what.receive.base);
  const auto from = [&](uint32_t block) { return level.block(block); };
  const bool has_result = what.kind == NAGAYA_SCAN ? !includes_own : !level.begins_own_block();
  if (!has_result) std::memcpy(result, from(--blocks), bytes_of(what));
  combine_in_front(what.elements, blocks, from, result, what.elements.count);
}

// Combines all blocks of the level into the member's result.
void reduce(const Operation& operation, const Level& level) {
  const nagaya_collective& what = operation.what();
  const nagaya_elements& elements = what.elements;
  const Share share = result_of(what, operation.rank(), operation.size());
  const Pieces result{static_cast<std::byte*>(what.receive.base), what.receive.runs,
                      elements.extent};
  result.for_each(0, share.count, [&](std::byte* piece, size_t number, size_t count) {
    const size_t offset = (share.first + number) * elements.extent;
    const auto from = [&](uint32_t block) { return level.block(block) + offset; };
    combine(elements, level.blocks(), from, piece, count);
  });
}

// Posts the combined blocks. Others poll the line: if the sums were formed there, each store would
// take the line back from them, so the sums are formed in the scratch memory.
void post_combined(Operation& operation, const Level& level) {
  const nagaya_elements& elements = operation.what().elements;
  const size_t bytes = bytes_of(operation.what());
  const auto from = [&](uint32_t block) { return level.block(block); };
  if (bytes != 0) combine(elements, level.blocks(), from, operation.scratch(), elements.count);
  const uint32_t level_number = operation.next + 1;
  if (bytes != 0)
    std::memcpy(operation.own_data() + level_number * bytes, operation.scratch(), bytes);
  operation.post_level(level_number);
}

void combine_level(Operation& operation, const Level& level) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = bytes_of(what);
  if (is_scan(what) && bytes != 0) scan(operation, level);
  if (!level.is_last())
    post_combined(operation, level);
  else if (!is_scan(what) && bytes != 0)
    reduce(operation, level);
}

bool work(Operation& operation) {
  const uint32_t levels = levels_of(operation.size());
  for (; operation.next < levels; ++operation.next) {
    const Level level(operation, operation.next);
    if (!level.is_awaited()) continue;
    if (!level.has_all()) return false;
    combine_level(operation, level);
  }
  return true;
}

}  // namespace

const Algorithm kRecursiveMultiplying{"recursive multiplying", post, work, nullptr, nullptr};

}  // namespace nagaya::coll
