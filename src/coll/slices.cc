// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "coll/pieces.h"
#include "coll/reduce.h"
#include "coll/share.h"
#include "coll/span.h"
#include "layout/bytes.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll {
namespace {

// The slice that this member combines, tile by tile, from and to the members' buffers.
class Slice {
 public:
  explicit Slice(Operation& operation)
      : operation_(operation),
        what_(operation.what()),
        elements_(what_.elements),
        share_(share_of(elements_, operation.rank(), operation.size())),
        tile_(std::clamp<size_t>(llcl::Tuning::own()[llcl::Tuned::kTileBytes] /
                                     std::max<size_t>(distance_of(elements_), 1),
                                 1, std::max<size_t>(share_.count, 1))),
        tile_layout_(buffer_layout_of(elements_, tile_)) {}

  // Memory for two tiles, and for the result if keeps_result().                     [bytes]
  size_t scratch_bytes() const {
    return 2 * tile_layout_.bytes +
           (keeps_result() ? buffer_layout_of(elements_, share_.count).bytes : 0);
  }

  void work() {
    first_ = operation_.scratch() + tile_layout_.first;
    second_ = first_ + tile_layout_.bytes;
    for (size_t done = 0; done < share_.count; done += tile_) {
      at_ = share_.first + done;
      count_ = std::min(tile_, share_.count - done);
      const bool is_scan = what_.kind == NAGAYA_SCAN || what_.kind == NAGAYA_EXSCAN;
      is_scan ? scan_tile() : reduce_tile();
    }
  }

  // Called when nobody reads the member's elements any more: stores a result that was kept.
  void end() {
    count_ = share_.count;
    if (keeps_result() && count_ != 0)
      copy(static_cast<std::byte*>(what_.receive.base), kept_result());
  }

 private:
  // REDUCE_SCATTER in place: the result's place has elements of other slices, which other members
  // still read. So the result stays in the scratch memory until end().
  bool keeps_result() const {
    return what_.kind == NAGAYA_REDUCE_SCATTER && what_.send.base == what_.receive.base;
  }
  std::byte* kept_result() const {
    return operation_.scratch() + 2 * tile_layout_.bytes +
           buffer_layout_of(elements_, share_.count).first;
  }

  std::byte* element(void* base, size_t n) const {
    return static_cast<std::byte*>(base) + static_cast<ptrdiff_t>(n * elements_.extent);
  }
  void copy(std::byte* to, const std::byte* from, size_t count) const {
    if (elements_.copy != nullptr)
      elements_.copy(elements_.context, to, from, count);
    else
      layout::copy_bytes(to, from, count * elements_.extent);
  }
  void copy(std::byte* to, const std::byte* from) const { copy(to, from, count_); }
  void reduce(const std::byte* in, std::byte* inout) const {
    elements_.reduce(elements_.context, in, inout, count_);
  }

  // ---- the tile of a member's buffers

  template <class Each>
  void for_each_piece(void* base, uint32_t rank, Each each) const {
    const Pieces pieces{static_cast<std::byte*>(base), operation_.line(rank).direct->send.runs,
                        elements_.extent};
    pieces.for_each(at_, count_, each);
  }
  void load(std::byte* to, uint32_t rank) const {
    for_each_piece(operation_.line(rank).direct->send.base, rank,
                   [&](const std::byte* piece, size_t number, size_t count) {
                     copy(element(to, number), piece, count);
                   });
  }
  void combine(uint32_t rank, std::byte* inout) const {
    for_each_piece(operation_.line(rank).direct->send.base, rank,
                   [&](const std::byte* piece, size_t number, size_t count) {
                     elements_.reduce(elements_.context, piece, element(inout, number), count);
                   });
  }
  void store(uint32_t rank, std::byte* from) const {
    for_each_piece(operation_.line(rank).direct->receive, rank,
                   [&](std::byte* piece, size_t number, size_t count) {
                     copy(piece, element(from, number), count);
                   });
  }

  void reduce_tile() {
    const uint32_t size = operation_.size();
    load(first_, size - 1);
    for (uint32_t rank = size - 1; rank-- > 0;) combine(rank, first_);
    if (what_.kind == NAGAYA_ALLREDUCE)
      for (uint32_t n = 0; n < size; ++n) store(n, first_);
    else if (what_.kind == NAGAYA_REDUCE)
      store(what_.root, first_);
    else
      copy(element(keeps_result() ? kept_result() : what_.receive.base, at_ - share_.first),
           first_);
  }

  // At each rank `first_` has the sum of the ranks before it, and `second_` the sum including it.
  void scan_tile() {
    const bool is_inclusive = what_.kind == NAGAYA_SCAN;
    load(first_, 0);
    if (is_inclusive) store(0, first_);
    for (uint32_t rank = 1; rank < operation_.size(); ++rank) {
      load(second_, rank);
      reduce(first_, second_);
      store(rank, is_inclusive ? second_ : first_);
      std::swap(first_, second_);
    }
  }

  Operation& operation_;
  const nagaya_collective& what_;
  const nagaya_elements& elements_;
  const Share share_;
  const size_t tile_;               // elements
  const BufferLayout tile_layout_;  // of a tile
  size_t at_ = 0, count_ = 0;       // of the present tile: its first element, and how many
  std::byte *first_ = nullptr, *second_ = nullptr;
};

void post(Operation& operation) {
  operation.new_scratch(Slice(operation).scratch_bytes());
  operation.post_direct();
}

bool work(Operation& operation) {
  for (; operation.next < operation.size(); ++operation.next)
    if (!operation.has_posted(operation.next)) return false;
  Slice(operation).work();
  return true;
}

void end(Operation& operation) {
  Slice(operation).end();
}

bool is_used_by(const Operation&, uint32_t) {
  return true;
}

}  // namespace

const Algorithm kSlices{"slices", post, work, is_used_by, end};

}  // namespace nagaya::coll
