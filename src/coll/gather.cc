// SPDX-License-Identifier: BSD-3-Clause
#include "coll/gather.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "coll/move.h"
#include "layout/blocks.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll {
namespace {

constexpr uint32_t kBlockMax = std::numeric_limits<uint32_t>::max();  // that a line can tell

bool is_root(const Operation& operation) {
  return operation.rank() == operation.what().root;
}

// Whether senders may copy blocks to the root's memory.
bool has_place_for_senders(const nagaya_collective& what) {
  const nagaya_blocks& blocks = what.receive;
  return what.store == nullptr && blocks.base != nullptr && !layout::has_runs(blocks) &&
         blocks.bytes_of == nullptr &&
         blocks.bytes > llcl::Tuning::own()[llcl::Tuned::kPostedMaxBytes];
}

void post(Operation& operation) {
  if (!is_root(operation)) return kCopyFromSender.post(operation);
  const nagaya_collective& what = operation.what();
  if (operation.size() == 1 || !has_place_for_senders(what)) return;
  std::fill_n(operation.new_scratch(operation.size()), operation.size(), std::byte{0});
  operation.direct_buffers.send = what.receive;
  operation.post_direct(static_cast<uint32_t>(std::min<size_t>(what.receive.bytes, kBlockMax)));
}

// Whether the caller is the first of the two that may copy the block.
bool take(std::atomic<uint32_t>& taken) {
  // Relaxed: has_posted() has acquired the addresses, and has_left() acquires the data.
  return taken.exchange(1, std::memory_order_relaxed) == 0;
}

// Handles the senders in the order of the ranks, its own block first. The scratch memory marks
// those that copy their blocks themselves.
bool receive_all(Operation& operation) {
  const uint32_t size = operation.size();
  for (; operation.next < size; ++operation.next) {
    const uint32_t sender = (operation.rank() + operation.next) % size;
    if (sender != operation.rank()) {
      if (!operation.has_posted(sender)) return false;
      const Line& line = operation.line(sender);
      if (line.form == Form::kDirect && !take(*line.direct->taken)) {
        operation.scratch()[sender] = std::byte{1};
        continue;
      }
    }
    receive(operation, sender);
  }
  return true;
}

// Copies the member's block to the root, unless the root copies it.
bool give(Operation& operation) {
  const uint32_t root = operation.what().root;
  if (operation.line(operation.rank()).form != Form::kDirect) return true;
  std::atomic<uint32_t>& taken = *operation.direct_buffers.taken;
  if (taken.load(std::memory_order_relaxed) != 0) return true;
  if (!operation.has_posted(root)) return false;
  const Line& line = operation.line(root);
  const layout::Buffer from = layout::block_of(operation.direct_buffers.send, 0);
  // A block of another size is the root's to notice.
  if (from.runs_or_null() != nullptr || from.bytes() != line.bytes || !take(taken)) return true;
  const layout::Buffer to = layout::block_of(line.direct->send, operation.rank());
  operation.team().group().copy(to.data(), from.data(), from.bytes(), root);
  return true;
}

bool work(Operation& operation) {
  return is_root(operation) ? receive_all(operation) : give(operation);
}

bool is_used_by(const Operation& operation, uint32_t rank) {
  if (is_root(operation)) return operation.scratch()[rank] != std::byte{0};
  return rank == operation.what().root;
}

}  // namespace

const Algorithm kGather{"gather", post, work, is_used_by, nullptr};

}  // namespace nagaya::coll
