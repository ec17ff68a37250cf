// SPDX-License-Identifier: BSD-3-Clause
// array.h - a process's part of an array: its block, and the exchange of its halos.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "array/block_memory.h"
#include "array/halo.h"
#include "array/members.h"
#include "array/shape.h"

namespace nagaya::array {

class Array {
 public:
  // `shape` and `grid` are valid (Shape::is_valid). May throw std::bad_alloc.
  Array(const nagaya_array_shape& shape, const nagaya_array_grid& grid, uint64_t name,
        Transport transport);

  // Only for several processes: publishes the block's address to those of this node. Returns 0,
  // -ENOMEM.
  int open(llcl::Board& board, task::TaskRecord& self);

  const nagaya_array_block& block() const { return block_; }

  // Starts a reflect or, with `combine`, a reduction of the shadow. Returns 0, -EINVAL, -EBUSY, an
  // earlier one's error that take_result() has not returned yet, or the error of Halo::start(). May
  // throw std::bad_alloc.
  int start_reflect(std::span<const nagaya_array_width> widths, bool orthogonal,
                    layout::Combine* combine = nullptr);
  // Acquire: pairs with advance(), which another thread may have called.
  bool is_reflecting() const { return result_.load(std::memory_order_acquire) == 0; }
  // Whether no other process uses memory of its halos any more, so that the array may be destroyed.
  bool may_be_destroyed() const;
  // Returns 0, or the error of a box of any reflect so far.
  int error() const;
  // Advances the pending reflect; one thread at a time. Returns whether it has ended: from then on
  // another thread may close the array.
  bool advance();
  // Returns 1 (complete, or none was started), 0 (pending), or the error of a box, once.
  int take_result();

  uint32_t size() const { return shape_.size(); }  // of the grid
  size_t dimensions() const { return shape_.dimensions(); }
  bool has_element(const int64_t* index) const;
  // Returns the rank of a process of this node that has the element, preferably the own one; -1:
  // none.
  int64_t rank_of_element(const int64_t* index) const;
  // Returns the element's address; nullptr: the process has not opened the array yet.
  std::byte* element_at(uint32_t rank, const int64_t* index) const;

 private:
  // A halo exchange that an earlier reflect has planned, found again by its widths.
  struct CachedHalo {
    std::vector<nagaya_array_width> widths;
    bool orthogonal;
    layout::Combine* combine;
    std::unique_ptr<Halo> halo;
  };

  bool fits(std::span<const nagaya_array_width> widths) const;
  bool has_scattered_dimension() const;
  Halo& halo_of(std::span<const nagaya_array_width> widths, bool orthogonal,
                layout::Combine* combine);
  bool has(uint32_t rank, const int64_t* index) const;

  const Shape shape_;
  const Transport transport_;
  const Layout layout_;
  const BlockMemory memory_;
  nagaya_array_block block_{};
  Members members_;
  std::vector<CachedHalo> halos_;
  Halo* pending_halo_ = nullptr;
  std::atomic<int> result_ = 1;
};

}  // namespace nagaya::array
