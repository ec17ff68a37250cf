// SPDX-License-Identifier: BSD-3-Clause
// tree.h - a binomial tree of a collective's nodes. A node's subtree consists of itself and of
// nodes that follow it directly:
//
//   0 ─┬─► 1
//      ├─► 2 ──► 3
//      └─► 4 ─┬─► 5
//             └─► 6
#pragma once

#include <bit>

#include "coll/hierarchy/schedule.h"

namespace nagaya::coll::hierarchy {

class Tree {
 public:
  // The tree seen from the calling member's node. `top`: the node at position 0; the others follow
  // in their order, cyclically.
  Tree(const Schedule& schedule, uint32_t top)
      : schedule_(schedule), top_(top), position_((schedule.node() + count() - top) % count()) {}

  // Position of the own node, and of its parent.
  uint32_t position() const { return position_; }
  bool is_top() const { return position_ == 0; }
  uint32_t parent() const { return position_ & (position_ - 1); }
  // The own node may have a child on each level 0 .. levels()-1; has_child() says whether so many
  // nodes exist.
  uint32_t levels() const {
    return static_cast<uint32_t>(is_top() ? std::bit_width(count() - 1)
                                          : std::countr_zero(position_));
  }
  bool has_child(uint32_t level) const { return uint64_t{child(level)} < count(); }
  uint32_t child(uint32_t level) const { return position_ + (uint32_t{1} << level); }

  uint32_t leader(uint32_t position) const {
    return schedule_.leader_of((position + top_) % count());
  }

 private:
  uint32_t count() const { return schedule_.nodes().nodes(); }

  const Schedule& schedule_;
  const uint32_t top_, position_;
};

}  // namespace nagaya::coll::hierarchy
