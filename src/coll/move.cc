// SPDX-License-Identifier: BSD-3-Clause
#include "coll/move.h"

#include <errno.h>

#include <algorithm>
#include <memory>
#include <new>

#include "layout/blocks.h"
#include "layout/bytes.h"
#include "layout/runs.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll {
namespace {

// ---- the sender and its receivers ---------------------------------------------------------------

bool has_one_sender(nagaya_collective_kind kind) {
  return kind == NAGAYA_BCAST || kind == NAGAYA_SCATTER;
}
bool has_block_for_each(nagaya_collective_kind kind) {
  return kind == NAGAYA_SCATTER || kind == NAGAYA_ALLTOALL;
}

bool has_receivers(const Operation& operation) {
  const nagaya_collective& what = operation.what();
  return (!has_one_sender(what.kind) || operation.rank() == what.root) && operation.size() > 1;
}

// ---- sending ------------------------------------------------------------------------------------

size_t sent_bytes(const Operation& operation) {
  const nagaya_blocks& send = operation.direct_buffers.send;
  if (!has_block_for_each(operation.what().kind)) return layout::block_of(send, 0).bytes();
  if (send.bytes_of == nullptr) return operation.size() * send.bytes;
  size_t total = 0;
  for (uint32_t n = 0; n < operation.size(); ++n) total += send.bytes_of[n];
  return total;
}

void post_block(Operation& operation, size_t bytes) {
  const layout::Buffer from = layout::block_of(operation.direct_buffers.send, 0);
  operation.post_data(bytes, [&](std::byte* to) { layout::gather(from, to, bytes); });
}

// Posts copies of the blocks for all members behind a table of their ends (line.h).
void post_blocks(Operation& operation, size_t total) {
  const size_t table_bytes = operation.size() * sizeof(uint32_t);
  operation.post_data(table_bytes + total, [&](std::byte* to) {
    auto end = static_cast<uint32_t>(table_bytes);
    for (uint32_t n = 0; n < operation.size(); ++n) {
      const layout::Buffer block = layout::block_of(operation.direct_buffers.send, n);
      layout::gather(block, to + end, block.bytes());
      end += static_cast<uint32_t>(block.bytes());
      std::memcpy(to + n * sizeof end, &end, sizeof end);
    }
  });
}

// ALLTOALL in place: lets the others read copies in the scratch memory, because this member may
// overwrite a block with a received one before its receiver has read it.
void send_from_copies(Operation& operation, size_t total) {
  const uint32_t size = operation.size();
  std::byte* const scratch = operation.new_scratch(size * sizeof(ptrdiff_t) + total);
  auto* const offsets = reinterpret_cast<ptrdiff_t*>(scratch);
  std::byte* const copies = scratch + size * sizeof(ptrdiff_t);
  ptrdiff_t end = 0;
  for (uint32_t n = 0; n < size; ++n) {
    const layout::Buffer block = layout::block_of(operation.direct_buffers.send, n);
    layout::gather(block, copies + end, block.bytes());
    offsets[n] = end;
    end += static_cast<ptrdiff_t>(block.bytes());
  }
  nagaya_blocks& send = operation.direct_buffers.send;
  send = send.bytes_of != nullptr ? layout::listed_blocks(copies, send.bytes_of, offsets)
                                  : layout::equal_blocks(copies, send.bytes);
}

void post(Operation& operation) {
  if (!has_receivers(operation)) return;
  const nagaya_collective& what = operation.what();
  const size_t total = sent_bytes(operation);
  if (total <= llcl::Tuning::own()[llcl::Tuned::kPostedMaxBytes]) {
    has_block_for_each(what.kind) ? post_blocks(operation, total) : post_block(operation, total);
    return;
  }
  if (what.kind == NAGAYA_ALLTOALL && what.send.base == what.receive.base)
    send_from_copies(operation, total);
  operation.post_direct();
}

// ---- receiving ----------------------------------------------------------------------------------

// Returns the block for this member in a sender's posted line.
layout::Buffer posted_block(const Operation& operation, const Line& line) {
  const uint32_t rank = operation.rank();
  const bool is_for_each = has_block_for_each(operation.what().kind);
  if (line.form == Form::kDirect)
    return layout::block_of(line.direct->send, is_for_each ? rank : 0);
  auto* const data = const_cast<std::byte*>(line.data());
  if (!is_for_each || line.bytes == 0) return {data, line.bytes};
  const auto end_of = [&](uint32_t n) {
    uint32_t end;
    std::memcpy(&end, data + n * sizeof end, sizeof end);
    return end;
  };
  const uint32_t begin =
      rank == 0 ? static_cast<uint32_t>(operation.size() * sizeof(uint32_t)) : end_of(rank - 1);
  return {data + begin, end_of(rank) - begin};
}

// Passes the block to the caller's `store`; copies a block in runs into contiguous memory first.
// May throw std::bad_alloc.
void store_block(const nagaya_collective& what, uint32_t sender, const layout::Buffer& from) {
  if (from.runs_or_null() == nullptr)
    return what.store(what.store_context, sender, from.data(), from.bytes());
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(from.bytes());
  layout::gather(from, copy.get(), from.bytes());
  what.store(what.store_context, sender, copy.get(), from.bytes());
}

// Copies between blocks that may lie in runs. If both begin at the same address, the data are where
// they belong already.
void copy_block(Operation& operation, uint32_t sender, const layout::Buffer& to,
                const layout::Buffer& from, size_t bytes) {
  const layout::Buffer target = to, source = from;
  if (target.walk().at() != source.walk().at())
    operation.team().group().copy_runs(target.walk(), source.walk(), bytes, sender);
}

}  // namespace

void receive_block(Operation& operation, uint32_t sender, const layout::Buffer& from,
                   bool is_long) {
  const nagaya_collective& what = operation.what();
  if (what.store != nullptr) return store_block(what, sender, from);
  const layout::Buffer to = layout::block_of(what.receive, has_one_sender(what.kind) ? 0 : sender);
  if (from.bytes() > to.bytes()) operation.fail(-EMSGSIZE);
  if (from.bytes() < to.bytes() && what.is_exact != 0) operation.fail(-ENODATA);
  const size_t bytes = std::min(from.bytes(), to.bytes());
  if (bytes == 0) return;
  if (to.runs_or_null() != nullptr || from.runs_or_null() != nullptr)
    copy_block(operation, sender, to, from, bytes);
  else if (to.data() == from.data())
    return;
  else if (is_long)
    operation.team().group().copy(to.data(), from.data(), bytes, sender);
  else {
    layout::copy_bytes(to.data(), from.data(), bytes);
    operation.team().group().count_copied(bytes);
  }
}

namespace {

// BCAST with may_detach: reads the root's block, or the copy if the root has detached meanwhile.
void receive_detachable(Operation& operation, uint32_t root, const DirectBuffers& buffers) {
  const layout::Buffer block = layout::block_of(buffers.send, 0);
  const std::byte* const copy = buffers.detachable->begin_reading();
  if (copy != nullptr)
    return receive_block(operation, root, {const_cast<std::byte*>(copy), block.bytes()}, true);
  mailbox::Machine::step(mailbox::StopPoint::kBlockReading);
  const auto end = [&] {
    buffers.detachable->end_reading();
    operation.team().group().wake_one(root);
  };
  try {
    receive_block(operation, root, block, true);
  } catch (const std::bad_alloc&) {  // work() is called again, and reads the block again
    end();
    throw;
  }
  end();
}

void copy_own_block(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const bool is_in_place = what.kind == NAGAYA_BCAST || what.kind == NAGAYA_BARRIER ||
                           layout::is_absent(what.send) ||
                           (layout::is_absent(what.receive) && what.store == nullptr);
  if (is_in_place) return;
  const uint32_t rank = operation.rank();
  const uint32_t n = has_block_for_each(what.kind) ? rank : 0;
  // receive_block() copies nothing if the block is where it belongs already.
  receive_block(operation, rank, layout::block_of(what.send, n), false);
}

}  // namespace

void receive(Operation& operation, uint32_t sender) {
  if (sender == operation.rank()) return copy_own_block(operation);
  if (operation.what().kind == NAGAYA_BARRIER) return;
  const Line& line = operation.line(sender);
  const bool is_direct = line.form == Form::kDirect;
  if (is_direct && line.direct->detachable != nullptr)
    return receive_detachable(operation, sender, *line.direct);
  receive_block(operation, sender, posted_block(operation, line), is_direct);
}

namespace {

bool work(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const uint32_t size = operation.size(), rank = operation.rank();
  const uint32_t senders = has_one_sender(what.kind) ? 1 : size;
  for (; operation.next < senders; ++operation.next) {
    uint32_t sender = has_one_sender(what.kind) ? what.root : rank + operation.next;
    if (sender >= size) sender -= size;
    if (sender != rank && !operation.has_posted(sender)) return false;
    receive(operation, sender);
  }
  return true;
}

bool is_used_by(const Operation&, uint32_t) {
  return true;
}

}  // namespace

const Algorithm kCopyFromSender{"move", post, work, is_used_by, nullptr};

}  // namespace nagaya::coll
