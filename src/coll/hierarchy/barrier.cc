// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"

namespace nagaya::coll::hierarchy {
namespace {

class Barrier final : public Schedule {
 public:
  using Schedule::Schedule;

 private:
  void first() override { fan_in(new_node_collective(NAGAYA_GATHER)); }

  bool between(uint32_t round) override {
    const uint32_t count = nodes().nodes(), own = node();
    const uint64_t distance = uint64_t{1} << round;
    if (!is_leader() || distance >= count) return false;
    const auto step = static_cast<uint32_t>(distance);
    send(leader_of((own + step) % count), {nullptr, 0});
    receive(leader_of((own + count - step) % count), {nullptr, 0});
    return true;
  }

  void last() override { fan_out(new_node_collective(NAGAYA_BCAST)); }
};

}  // namespace

const MultiNodeAlgorithm kBarrier{
    .name = "dissemination of leaders", .make = Schedule::make<Barrier>, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
