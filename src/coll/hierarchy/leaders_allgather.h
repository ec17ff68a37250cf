// SPDX-License-Identifier: BSD-3-Clause
// leaders_allgather.h - base class of collectives in which each leader gets the data of all ranks
// and fans them out.
#pragma once

#include "coll/hierarchy/schedule.h"

namespace nagaya::coll::hierarchy {

class LeadersAllgather : public Schedule {
 public:
  using Schedule::Schedule;

 protected:
  // Returns where the data of the n-th rank, node by node, begin in `all_`; n = size(): their end.
  virtual size_t offset_of(uint32_t n) const = 0;
  // Called with the data of all ranks.
  void store_data(uint32_t index, const void* data, size_t bytes) override = 0;

  std::byte* all_ = nullptr;  // a leader's: the data of all ranks, node by node

 private:
  bool between(uint32_t round) final {
    if (!is_leader() || round != 0) return false;
    const auto data_of = [&](uint32_t node) {
      const uint32_t n = nodes().begin_of(node);
      const size_t begin = offset_of(n), end = offset_of(n + nodes().ranks_of(node).size());
      return layout::Buffer(all_ + begin, end - begin);
    };
    for_each_other_node([&](uint32_t to, uint32_t from) {
      send(leader_of(to), data_of(node()));
      receive(leader_of(from), data_of(from));
    });
    return true;
  }
  void last() final { fan_out_data(NAGAYA_BCAST, all_, offset_of(size())); }
  void end() final {
    if (is_leader()) store_data(0, all_, offset_of(size()));
  }
};

}  // namespace nagaya::coll::hierarchy
