// SPDX-License-Identifier: BSD-3-Clause
// layout.h - where the bytes of a datatype lie: nested loops over runs of bytes.
//
//   Layout   groups, in the order of the message
//   Group    `count` copies, `stride` bytes apart, of one run of bytes, or of what another layout
//   describes
//
//   three of {int, gap, double}, 32 bytes apart:    offset 0, count 3, stride 32 ──► 4 bytes at 0
//                                                                                    8 bytes at 8
//
// A layout never changes, and keeps no position: a byte of the message is found by division among
// equal copies and by bisection among groups. So any number of threads may use one at once. Nothing
// of MPI is known here.
#pragma once

#include <nagaya/llcl.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace nagaya::mpi {

class Layout;
using SharedLayout = std::shared_ptr<const Layout>;

class Layout {
 public:
  size_t bytes() const { return bytes_; }
  // From the address of an element to its lowest byte, and behind its highest one. Without bytes
  // both are 0.
  ptrdiff_t low() const { return low_; }
  ptrdiff_t high() const { return high_; }

  // Elements of the layout lie `extent` bytes apart. `buffer`: the address that offsets count from,
  // nullptr if they are addresses (MPI_BOTTOM).

  // Returns whether the bytes of `count` elements are one run, in their order; it begins at low().
  // No bytes are one.
  bool is_one_run(size_t count, ptrdiff_t extent) const;
  // Stores up to `most` groups of runs. Returns their number; 0: the elements need more, or have no
  // bytes.
  size_t describe(void* buffer, size_t count, ptrdiff_t extent, nagaya_runs* runs,
                  size_t most) const;
  // Describes items of `data_bytes` bytes of the message, each as one run of `item_bytes` from its
  // first byte on: pairs with a gap between their halves.
  size_t describe_items(void* buffer, size_t count, ptrdiff_t extent, size_t data_bytes,
                        size_t item_bytes, nagaya_runs* runs, size_t most) const;
  // Copy `bytes` bytes of the message, from its byte `first` on, to or from contiguous memory.
  void pack(const void* buffer, ptrdiff_t extent, size_t first, size_t bytes, void* to) const;
  void unpack(void* buffer, ptrdiff_t extent, size_t first, size_t bytes, const void* from) const;

 private:
  friend class LayoutBuilder;

  class RunList;
  struct Group {
    ptrdiff_t offset;  // of the first copy
    size_t count;
    ptrdiff_t stride;    // 0 if there is one copy
    size_t bytes;        // of one copy
    SharedLayout inner;  // nullptr: one copy is one run
    size_t before;       // bytes of the groups before this one
    size_t total() const { return count * bytes; }
    // Returns whether `next` begins where this ends, or goes on by its stride, and now belongs to
    // it.
    bool join(const Group& next);
  };

  // Returns an equal group with as few loops as possible: a loop with one copy, or whose copies
  // join those of the loop inside, is none.
  static Group simplified(Group group);
  Group group_of(size_t count, ptrdiff_t extent) const;
  // The elements that have the message's bytes up to `end`.
  Group group_up_to(size_t end, ptrdiff_t extent) const {
    return group_of((end + bytes_ - 1) / bytes_, extent);
  }

  // Call each(first, stride, count, bytes) for equal runs in the order of the message, which make
  // up its bytes [first, first + bytes), until it returns false. Return whether it never did. (In
  // layout.cc.)
  template <class Each>
  static bool visit(const Group& group, void* base, size_t first, size_t bytes, const Each& each);
  template <class Each>
  bool visit(void* base, size_t first, size_t bytes, const Each& each) const;

  std::vector<Group> groups_;
  size_t bytes_ = 0;
  ptrdiff_t low_ = 0, high_ = 0;
};

// Makes a layout of runs and other layouts. All functions may throw std::bad_alloc.
class LayoutBuilder {
 public:
  // Appends `count` runs of `bytes`, or copies of `layout`, to the message.
  void add_runs(ptrdiff_t offset, size_t bytes, size_t count = 1, ptrdiff_t stride = 0);
  void add(ptrdiff_t offset, const SharedLayout& layout, size_t count = 1, ptrdiff_t stride = 0);

  // Returns the layout. Nothing may be added afterwards.
  SharedLayout finish();

 private:
  void add(Layout::Group group);

  std::shared_ptr<Layout> layout_ = std::make_shared<Layout>();
};

}  // namespace nagaya::mpi
