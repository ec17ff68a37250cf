// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/reduction.h"
#include "coll/hierarchy/tree.h"

namespace nagaya::coll::hierarchy {
namespace {

class Reduce final : public Reduction {
 public:
  using Reduction::Reduction;

 private:
  bool between(uint32_t) override {
    if (!is_leader() || has_sent_) return false;
    if (is_receiving_) combine_childs_elements();
    if (!receive_from_child()) pass_on();
    return true;
  }

  // Combines a child's elements with the own ones, which come first in the order.
  void combine_childs_elements() {
    elements_.reduce(combined_, received_, count());
    std::swap(combined_, received_);
    if (received_ == what().send.base) received_ = nullptr;  // never write the caller's
    is_receiving_ = false;
  }

  // Begins to receive from the child on the next level that has one; false: no child is left.
  bool receive_from_child() {
    while (level_ < tree_.levels()) {
      const uint32_t level = level_++;
      if (!tree_.has_child(level)) continue;
      if (received_ == nullptr) received_ = new_elements(count());
      receive_elements(tree_.leader(tree_.child(level)), received_, count());
      return is_receiving_ = true;
    }
    return false;
  }

  // Sends the combined elements to the parent; at the top, to the root if that is another member. A
  // root that is not the top receives the result from the top.
  void pass_on() {
    has_sent_ = true;
    if (!tree_.is_top())
      send_elements(tree_.leader(tree_.parent()), combined_, count());
    else if (!is_root())
      send_elements(what().root, combined_, count());
    if (!is_root() || tree_.is_top()) return;
    received_ = new_elements(count());
    receive_elements(tree_.leader(0), received_, count());
  }

  void end() override {
    if (is_root())
      elements_.copy(what().receive.base, tree_.is_top() ? combined_ : received_, count());
  }

  // If the operation commutes the root's node is the tree's top, and the root gets the result
  // without a further message. Else node 0 is the top: nodes are combined in their order.
  const Tree tree_{*this, what().elements.commutes != 0 ? nodes().node_of(what().root) : 0};
  uint32_t level_ = 0;             // the tree's next level to receive from
  std::byte* received_ = nullptr;  // receives a child's elements, or the result from the top
  bool is_receiving_ = false;      // from a child
  bool has_sent_ = false;          // to the parent, or from the top to the root
};

}  // namespace

const MultiNodeAlgorithm kReduce{
    .name = "tree of nodes, upwards", .make = Schedule::make<Reduce>, .has_root = true};

}  // namespace nagaya::coll::hierarchy
