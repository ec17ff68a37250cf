// SPDX-License-Identifier: BSD-3-Clause
// cell.h - a lane's cell for the tests: its pusher, its number, and a pattern over the rest.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "mailbox/lane_set.h"

namespace nagaya::mailbox {

struct TestCell {
  uint64_t producer, number, pattern[6];

  static TestCell of(uint64_t producer, uint64_t number) {
    TestCell cell{producer, number, {}};
    for (uint64_t& word : cell.pattern) word = producer * 1000003 + number;
    return cell;
  }
  bool whole() const {
    for (const uint64_t word : pattern)
      if (word != producer * 1000003 + number) return false;
    return true;
  }
};

struct Freed {
  void operator()(void* pages) const { std::free(pages); }
};

// A set of lanes in zeroed memory, as the host makes it.
template <class M>
std::unique_ptr<LaneSet<TestCell, M>, Freed> make_lanes(uint32_t lanes) {
  using Set = LaneSet<TestCell, M>;
  const size_t bytes = Set::bytes_for(lanes);
  void* pages = std::aligned_alloc(kLineBytes, bytes);
  std::memset(pages, 0, bytes);
  std::unique_ptr<Set, Freed> set(static_cast<Set*>(pages));
  set->init(lanes);
  return set;
}

}  // namespace nagaya::mailbox
