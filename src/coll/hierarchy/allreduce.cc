// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/reduction.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll::hierarchy {
namespace {

class Allreduce final : public ReductionByShares {
 public:
  using ReductionByShares::ReductionByShares;

 private:
  void first() override {
    if (!is_alone_on_node()) return Reduction::first();
    combined_ = memory_for_combined();
    elements_.copy(combined_, what().send.base, count());
  }

  bool between(uint32_t round) override {
    if (!is_leader()) return false;
    if (round == 0) {
      exchange();
      return true;
    }
    const Share own = share_of_node(node());
    if (round == 1) elements_.copy(elements_.at(combined_, own.first), combine(), own.count);
    if (round > 1 || !is_sliced_) return false;
    exchange_slices();
    return true;
  }

  // Returns the leader's slice, or all elements if there are no slices.
  Share share_of_node(uint32_t node) const override {
    return is_sliced_ ? equal_share(count(), node, nodes().nodes()) : Share{0, count()};
  }

  // Sends the own combined slice to each other leader, and receives theirs.
  void exchange_slices() {
    const Share own = share_of_node(node());
    for_each_other_node([&](uint32_t to, uint32_t from) {
      const Share share = share_of_node(from);
      send_elements(leader_of(to), elements_.at(combined_, own.first), own.count);
      receive_elements(leader_of(from), elements_.at(combined_, share.first), share.count);
    });
  }

  void last() override {
    nagaya_collective out =
        new_node_collective(NAGAYA_BCAST, !is_leader() && elements_.have_gaps());
    if (is_leader())
      out.send = elements_.block_of(combined_, count());
    else
      out.receive = elements_.block_of(what().receive.base, count());
    fan_out(out);
  }

  void end() override {
    if (is_leader()) elements_.copy(what().receive.base, combined_, count());
  }

  const bool is_sliced_ = !elements_.have_gaps() && count() >= nodes().nodes() &&
                          count() * what().elements.extent >
                              llcl::Tuning::own()[llcl::Tuned::kExchangedMaxBytes];
};

}  // namespace

const MultiNodeAlgorithm kAllreduce{
    .name = "leaders to each other", .make = Schedule::make<Allreduce>, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
