// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/leaders_allgather.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {
namespace {

class Allgather final : public LeadersAllgather {
 public:
  using LeadersAllgather::LeadersAllgather;

 private:
  void first() override {
    find_offsets();
    if (is_leader()) all_ = new_scratch(offset_of(size()));
    const uint32_t begin = nodes().begin_of(node());
    if (is_alone_on_node()) {
      const layout::Buffer own = layout::block_of(what().send, 0);
      return layout::gather(own, all_ + offsets_[begin], own.bytes());
    }
    nagaya_collective in = new_node_collective(NAGAYA_GATHER);
    in.send = what().send;
    if (is_leader())
      in.receive = layout::listed_blocks(all_, sizes_.data() + begin, offsets_.data() + begin);
    fan_in(in);
  }

  void find_offsets() {
    size_t at = 0;
    for (const uint32_t rank : nodes().ranks()) {
      sizes_.push_back(layout::block_of(what().receive, rank).bytes());
      offsets_.push_back(static_cast<ptrdiff_t>(at));
      at += sizes_.back();
    }
    offsets_.push_back(static_cast<ptrdiff_t>(at));
  }
  size_t offset_of(uint32_t n) const override { return static_cast<size_t>(offsets_[n]); }

  void store_data(uint32_t, const void* data, size_t) override {
    for (uint32_t n = 0; n < size(); ++n)
      deliver(nodes().ranks()[n], static_cast<const std::byte*>(data) + offsets_[n], sizes_[n]);
  }

  std::vector<size_t> sizes_;       // size of each block in `all_`                       [bytes]
  std::vector<ptrdiff_t> offsets_;  // where each block begins in `all_`, then the end    [bytes]
};

}  // namespace

const MultiNodeAlgorithm kAllgather{
    .name = "by leaders", .make = Schedule::make<Allgather>, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
