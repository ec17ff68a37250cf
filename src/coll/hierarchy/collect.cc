// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/elements.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/leaders_allgather.h"
#include "coll/share.h"

namespace nagaya::coll::hierarchy {
namespace {

// `all_` consists of a buffer for each rank's elements.
class GatherAllThenReduce final : public LeadersAllgather {
 public:
  using LeadersAllgather::LeadersAllgather;

 private:
  void first() override {
    nagaya_collective in = new_node_collective(NAGAYA_GATHER);
    in.send = elements_.block_of(what().send.base, count_);
    if (is_leader()) {
      all_ = new_scratch(offset_of(size()));
      std::byte* const to = elements_.first_in_buffer(all_, nodes().begin_of(node()), count_);
      if (is_alone_on_node()) return elements_.copy(to, what().send.base, count_);
      in.receive = elements_.block_of(to, count_);
      in.receive.stride = static_cast<ptrdiff_t>(elements_.buffer_bytes(count_));
    }
    fan_in(in);
  }

  size_t offset_of(uint32_t n) const override { return n * elements_.buffer_bytes(count_); }

  // Combines the elements of this member's result, without the result of any other member.
  void store_data(uint32_t, const void* data, size_t) override {
    const Share share = result_of(what(), rank(), size());
    auto* const all = static_cast<std::byte*>(const_cast<void*>(data));
    const auto elements_of = [&](uint32_t rank) {
      const uint32_t n = nodes().begin_of(nodes().node_of(rank)) + nodes().index_of(rank);
      return elements_.at(elements_.first_in_buffer(all, n, count_), share.first);
    };
    uint32_t from = count_contributors(what(), rank(), size());
    if (from == 0) return;
    auto* const result = static_cast<std::byte*>(what().receive.base);
    elements_.copy(result, elements_of(--from), share.count);
    while (from-- > 0) elements_.reduce(elements_of(from), result, share.count);
  }

  const Elements elements_{what().elements};
  const size_t count_ = what().elements.count;  // elements of each rank
};

}  // namespace

const MultiNodeAlgorithm kGatherAllThenReduce{
    .name = "all elements to each", .make = Schedule::make<GatherAllThenReduce>, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
