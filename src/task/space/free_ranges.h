// SPDX-License-Identifier: BSD-3-Clause
// free_ranges.h - the set of free addresses of a partition.
//
// A sorted array of disjoint, non-touching free ranges [begin, end) in shared plain memory.
// Neighbouring mappings merge, so the array stays short (tens of entries for an MPI rank).
// Freestanding: general registers, no libc, no TLS. Not thread-safe: the caller holds the
// partition's lock. A task killed in the middle leaves it inconsistent; nobody reads it again,
// because the host resets it before the number is used anew.
#pragma once

#include <cstdint>

namespace nagaya::task {

struct FreeRanges {
  struct Range {
    uint64_t begin;
    uint64_t end;
  };

  uint32_t count;
  uint32_t capacity;  // entries of `ranges`
  Range ranges[];

  void reset(uint32_t capacity_entries) {
    capacity = capacity_entries;
    count = 0;
  }

  // Takes `bytes` free bytes at a multiple of `alignment` (a power of two), the lowest that fit.
  // Returns the address, 0 when nothing fits.
  uint64_t take(uint64_t bytes, uint64_t alignment) {
    for (uint32_t n = 0; n < count; ++n) {
      const uint64_t at = (ranges[n].begin + alignment - 1) & ~(alignment - 1);
      if (at > ranges[n].end || ranges[n].end - at < bytes) continue;
      take_exactly(at, at + bytes);
      return at;
    }
    return 0;
  }

  // Marks [begin, end) as in use; parts of it may be in use already. When a split finds no room in
  // the array, the smaller half counts as in use until the next reset.
  void take_exactly(uint64_t begin, uint64_t end) {
    for (uint32_t n = 0; n < count;) {
      Range& range = ranges[n];
      if (range.end <= begin || range.begin >= end) {
        ++n;
        continue;
      }
      const Range left{range.begin, begin}, right{end, range.end};
      const bool keep_left = left.begin < left.end, keep_right = right.begin < right.end;
      if (keep_left && keep_right && count < capacity) {
        open_gap(n);
        ranges[n] = left;
        ranges[n + 1] = right;
        return;
      }
      if (keep_left && keep_right) {
        range = left.end - left.begin >= right.end - right.begin ? left : right;
        return;
      }
      if (keep_left || keep_right) {
        range = keep_left ? left : right;
        ++n;
      } else {
        close_gap(n, 1);
      }
    }
  }

  // Marks [begin, end) as free; parts of it may be free already.
  void give(uint64_t begin, uint64_t end) {
    uint32_t first = 0;
    while (first < count && ranges[first].end < begin) ++first;
    uint32_t last = first;  // ranges [first, last) touch or overlap [begin, end)
    while (last < count && ranges[last].begin <= end) {
      if (ranges[last].begin < begin) begin = ranges[last].begin;
      if (ranges[last].end > end) end = ranges[last].end;
      ++last;
    }
    if (last == first) {
      if (count == capacity) return;  // no room: counts as in use until the next reset
      open_gap(first);
    } else {
      close_gap(first, last - first - 1);
    }
    ranges[first] = {begin, end};
  }

 private:
  // These move elements one by one, through volatile: the compiler must not emit memmove calls.
  void open_gap(uint32_t at) {
    for (uint32_t n = count; n > at; --n) move(n, n - 1);
    ++count;
  }
  void close_gap(uint32_t at, uint32_t entries) {
    if (entries == 0) return;
    for (uint32_t n = at; n + entries < count; ++n) move(n, n + entries);
    count -= entries;
  }
  void move(uint32_t to, uint32_t from) {
    const volatile Range& source = ranges[from];
    ranges[to].begin = source.begin;
    ranges[to].end = source.end;
  }
};

}  // namespace nagaya::task
