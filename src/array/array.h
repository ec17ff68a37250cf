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
  // Both are valid. May throw std::bad_alloc.
  Array(const nagaya_array_shape& shape, const nagaya_array_grid& grid, uint64_t name,
        Between between);

  // Several processes: tells those of the node where the block is. Returns 0, -ENOMEM.
  int open(llcl::Board& board, task::TaskRecord& self);

  const nagaya_array_block& block() const { return block_; }

  // Returns 0, -EINVAL, -EBUSY, the error of the reflect before that nobody has taken, or that of
  // Halo::start(). May throw std::bad_alloc.
  int start_reflect(std::span<const nagaya_array_width> widths, bool orthogonal);
  // Acquire: pairs with advance(), which another thread may have called.
  bool is_reflecting() const { return result_.load(std::memory_order_acquire) == 0; }
  // Nothing of it is in use by another process: it may go.
  bool is_quiet() const;
  // Of all reflects: 0, or the error of a box.
  int error() const;
  // Looks once, one thread at a time. Whether no reflect is under way any more: from then on the
  // array may go.
  bool advance();
  // 1: complete, or there was none; 0: under way; or the error of a box, once.
  int take_result();

  uint32_t size() const { return shape_.size(); }  // of the grid
  size_t dimensions() const { return shape_.dimensions(); }
  bool has_element(const int64_t* index) const;
  // A process of this node that has the element, the own one first; -1: none.
  int64_t rank_of_element(const int64_t* index) const;
  // nullptr: the process has not opened yet.
  std::byte* element_at(uint32_t rank, const int64_t* index) const;

 private:
  struct Known {
    std::vector<nagaya_array_width> widths;
    bool orthogonal;
    std::unique_ptr<Halo> halo;
  };

  bool fits(std::span<const nagaya_array_width> widths) const;
  Halo& halo_of(std::span<const nagaya_array_width> widths, bool orthogonal);
  bool has(uint32_t rank, const int64_t* index) const;

  const Shape shape_;
  const Between between_;
  const Layout layout_;
  const BlockMemory memory_;
  nagaya_array_block block_{};
  Members members_;
  std::vector<Known> known_;
  Halo* under_way_ = nullptr;
  std::atomic<int> result_ = 1;
};

}  // namespace nagaya::array
