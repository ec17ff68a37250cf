// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"

namespace nagaya::coll::hierarchy {
namespace {

void first(Schedule& schedule) {
  if (schedule.is_alone_on_node()) return;
  schedule.fan_in(schedule.new_node_collective(NAGAYA_GATHER));
}

bool between(Schedule& schedule, uint32_t round) {
  const uint32_t count = schedule.nodes().nodes(), own = schedule.node();
  const uint64_t distance = uint64_t{1} << round;
  if (!schedule.is_leader() || distance >= count) return false;
  const auto step = static_cast<uint32_t>(distance);
  schedule.send(schedule.leader_of((own + step) % count), nullptr, 0);
  schedule.receive(schedule.leader_of((own + count - step) % count), nullptr, 0);
  return true;
}

void last(Schedule& schedule) {
  if (schedule.is_alone_on_node()) return;
  schedule.fan_out(schedule.new_node_collective(NAGAYA_BCAST));
}

}  // namespace

const MultiNodeAlgorithm kBarrier{.name = "dissemination of leaders",
                                  .fans_out = true,
                                  .first = first,
                                  .between = between,
                                  .last = last};

}  // namespace nagaya::coll::hierarchy
