// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/reduction.h"

namespace nagaya::coll::hierarchy {
namespace {

class ReduceScatter final : public ReductionByShares {
 public:
  using ReductionByShares::ReductionByShares;

 private:
  bool between(uint32_t round) override {
    if (!is_leader()) return false;
    if (round == 0) {
      find_node_offsets();
      sort();
      exchange();
    } else {
      combined_ = combine();
    }
    return round == 0;
  }

  Share share_of_rank(uint32_t rank) const { return share_of(what().elements, rank, size()); }
  Share share_of_node(uint32_t node) const override {
    return {node_offsets_[node], node_offsets_[node + 1] - node_offsets_[node]};
  }

  void find_node_offsets() {
    size_t at = 0;
    for (uint32_t node = 0; node < nodes().nodes(); ++node) {
      node_offsets_.push_back(at);
      for (const uint32_t rank : nodes().ranks_of(node)) at += share_of_rank(rank).count;
    }
    node_offsets_.push_back(at);
  }

  // Sorts `combined_` by the nodes whose ranks get the elements. Copies it if it is the caller's
  // memory, which must not be written.
  void sort() {
    if (nodes().are_blocks() && combined_ != what().send.base) return;
    std::byte* const sorted = new_elements(count());
    size_t at = 0;
    for (const uint32_t rank : nodes().ranks()) {
      const Share share = share_of_rank(rank);
      elements_.copy(elements_.at(sorted, at), elements_.at(combined_, share.first), share.count);
      at += share.count;
    }
    combined_ = sorted;
  }

  void last() override {
    if (is_alone_on_node()) return;
    nagaya_collective out = new_node_collective(NAGAYA_SCATTER, true);
    out.receive = layout::equal_blocks(nullptr, elements_.span(share_of_rank(rank()).count).bytes);
    if (is_leader()) out.send = results();
    fan_out(out);
  }

  // Returns the results of the node's members, a block for each.
  nagaya_blocks results() {
    size_t at = 0;
    for (const uint32_t rank : own_ranks()) {
      const size_t count = share_of_rank(rank).count;
      const Span span = elements_.span(count);
      sizes_.push_back(span.bytes);
      offsets_.push_back(elements_.at(combined_, at) + span.first - combined_);
      at += count;
    }
    return layout::listed_blocks(combined_, sizes_.data(), offsets_.data());
  }

  void end() override {
    if (is_alone_on_node())
      elements_.copy(what().receive.base, combined_, share_of_rank(rank()).count);
  }

  // A leader's. In the last two stages `combined_` is the result for the own node's ranks.
  std::vector<size_t> node_offsets_;  // of each node's share, then the end            [elements]
  std::vector<size_t> sizes_;         // of each member's result                          [bytes]
  std::vector<ptrdiff_t> offsets_;    // of each member's result in `combined_`           [bytes]
};

}  // namespace

const MultiNodeAlgorithm kReduceScatter{
    .name = "leaders to each other", .make = Schedule::make<ReduceScatter>, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
