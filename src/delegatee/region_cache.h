// SPDX-License-Identifier: BSD-3-Clause
// region_cache.h - what the fabric calls other nodes' regions, once they have told. Direct-mapped:
// two regions of one place push each other out, which costs a question.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/fabric.h"

namespace nagaya::delegatee {

class RegionCache {
 public:
  // nullptr: not known.
  const fabric::Region* find(uint32_t node, uint32_t task, uint32_t region) const {
    const Entry& entry = entries_[place(node, task, region)];
    const bool is_it =
        entry.is_used && entry.node == node && entry.task == task && entry.number == region;
    return is_it ? &entry.region : nullptr;
  }
  void put(uint32_t node, uint32_t task, uint32_t region, const fabric::Region& value) {
    entries_[place(node, task, region)] = {true, node, task, region, value};
  }
  void drop(uint32_t node, uint32_t task, uint32_t region) {
    entries_[place(node, task, region)].is_used = false;
  }

 private:
  static constexpr size_t kEntries = 1024;
  struct Entry {
    bool is_used;
    uint32_t node, task, number;
    fabric::Region region;
  };

  static size_t place(uint32_t node, uint32_t task, uint32_t region) {
    // Odd factors spread neighbours over the table.
    return (node * 2654435761u + task * 40503u + region * 2246822519u) % kEntries;
  }

  std::array<Entry, kEntries> entries_{};
};

}  // namespace nagaya::delegatee
