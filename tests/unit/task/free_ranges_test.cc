// SPDX-License-Identifier: BSD-3-Clause
// free_ranges against a model: one flag per page.
#include "task/space/free_ranges.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace nagaya::task {
namespace {

constexpr uint64_t kPage = 4096;

// FreeRanges is open-ended: room for `entries` behind it.
class Ranges {
 public:
  explicit Ranges(uint32_t entries)
      : memory_(new uint64_t[1 + 2 * entries]),
        ranges_(reinterpret_cast<FreeRanges*>(memory_.get())) {
    ranges_->reset(entries);
  }
  FreeRanges* operator->() const { return ranges_; }

 private:
  std::unique_ptr<uint64_t[]> memory_;
  FreeRanges* ranges_;
};

class Model {
 public:
  explicit Model(size_t pages) : free_(pages, false) {}

  void set(uint64_t begin, uint64_t end, bool free) {
    for (uint64_t page = begin / kPage; page < end / kPage; ++page) free_[page] = free;
  }
  bool is_free(uint64_t page) const { return free_[page]; }
  // The lowest address that fits, 0 when none does.
  uint64_t lowest_fit(uint64_t bytes, uint64_t alignment) const {
    for (uint64_t at = 0; at + bytes <= free_.size() * kPage; at += alignment)
      if (at != 0 && fits(at, bytes)) return at;
    return 0;
  }
  size_t pages() const { return free_.size(); }

 private:
  bool fits(uint64_t at, uint64_t bytes) const {
    for (uint64_t page = at / kPage; page < (at + bytes) / kPage; ++page)
      if (!free_[page]) return false;
    return true;
  }

  std::vector<bool> free_;
};

bool lists_page(const FreeRanges& ranges, uint64_t page) {
  for (uint32_t n = 0; n < ranges.count; ++n)
    if (ranges.ranges[n].begin <= page * kPage && (page + 1) * kPage <= ranges.ranges[n].end)
      return true;
  return false;
}

void expect_sorted_and_apart(const FreeRanges& ranges) {
  ASSERT_LE(ranges.count, ranges.capacity);
  for (uint32_t n = 0; n < ranges.count; ++n) {
    ASSERT_LT(ranges.ranges[n].begin, ranges.ranges[n].end);
    if (n > 0) {
      ASSERT_LT(ranges.ranges[n - 1].end, ranges.ranges[n].begin);
    }
  }
}

struct Operation {
  uint64_t begin, end, alignment;
  int kind;
};

Operation random_operation(std::mt19937& random, size_t pages) {
  const uint64_t begin = 1 + random() % (pages - 1);
  const uint64_t end = begin + 1 + random() % std::min<uint64_t>(24, pages - begin);
  return {begin * kPage, std::min<uint64_t>(end, pages) * kPage, kPage << random() % 5,
          static_cast<int>(random() % 3)};
}

TEST(FreeRanges, AgreeWithABitmapAfterEveryOperation) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    Ranges ranges(4096);
    Model model(600);
    ranges->give(kPage, model.pages() * kPage);
    model.set(kPage, model.pages() * kPage, true);
    for (int n = 0; n < 400; ++n) {
      const Operation o = random_operation(random, model.pages());
      if (o.kind == 0) {
        const uint64_t bytes = o.end - o.begin;
        const uint64_t at = ranges->take(bytes, o.alignment);
        ASSERT_EQ(at, model.lowest_fit(bytes, o.alignment)) << "seed " << seed << " step " << n;
        if (at != 0) model.set(at, at + bytes, false);
      } else if (o.kind == 1) {
        ranges->take_exactly(o.begin, o.end);
        model.set(o.begin, o.end, false);
      } else {
        ranges->give(o.begin, o.end);
        model.set(o.begin, o.end, true);
      }
      expect_sorted_and_apart(*ranges.operator->());
      for (uint64_t page = 0; page < model.pages(); ++page)
        ASSERT_EQ(lists_page(*ranges.operator->(), page), model.is_free(page))
            << "seed " << seed << " step " << n << " page " << page;
    }
  }
}

// With a full array addresses may be forgotten, but used ones are never handed out.
TEST(FreeRanges, NeverHandOutUsedPagesWhenTheArrayIsFull) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Ranges ranges(3);
    Model model(200);
    ranges->give(kPage, model.pages() * kPage);
    model.set(kPage, model.pages() * kPage, true);
    for (int n = 0; n < 300; ++n) {
      const Operation o = random_operation(random, model.pages());
      if (o.kind == 2) {
        ranges->give(o.begin, o.end);
        model.set(o.begin, o.end, true);
      } else if (const uint64_t at = ranges->take(o.end - o.begin, o.alignment); at != 0) {
        ASSERT_EQ(at % o.alignment, 0u);
        for (uint64_t page = at / kPage; page < (at + o.end - o.begin) / kPage; ++page)
          ASSERT_TRUE(model.is_free(page)) << "seed " << seed << " step " << n;
        model.set(at, at + o.end - o.begin, false);
      }
      expect_sorted_and_apart(*ranges.operator->());
      for (uint64_t page = 0; page < model.pages(); ++page)
        ASSERT_FALSE(lists_page(*ranges.operator->(), page) && !model.is_free(page));
    }
  }
}

TEST(FreeRanges, KeepTheLargerHalfWhenASplitFindsNoRoom) {
  Ranges ranges(1);
  ranges->give(kPage, 100 * kPage);
  ranges->take_exactly(20 * kPage, 21 * kPage);
  ASSERT_EQ(ranges->count, 1u);
  EXPECT_EQ(ranges->ranges[0].begin, 21 * kPage);
  EXPECT_EQ(ranges->ranges[0].end, 100 * kPage);
}

TEST(FreeRanges, ReturnZeroWhenNothingFits) {
  Ranges ranges(8);
  EXPECT_EQ(ranges->take(kPage, kPage), 0u);
  ranges->give(3 * kPage, 5 * kPage);
  EXPECT_EQ(ranges->take(3 * kPage, kPage), 0u);
  EXPECT_EQ(ranges->take(2 * kPage, 4 * kPage), 0u);  // fits, but not at this alignment
  EXPECT_EQ(ranges->take(2 * kPage, kPage), 3 * kPage);
  EXPECT_EQ(ranges->take(kPage, kPage), 0u);
}

TEST(FreeRanges, SurviveSizesNearTheEndOfTheAddressSpace) {
  Ranges ranges(8);
  ranges->give(kPage, 64 * kPage);
  EXPECT_EQ(ranges->take(~uint64_t{0}, kPage), 0u);
  EXPECT_EQ(ranges->take(~uint64_t{0} - kPage + 1, kPage), 0u);
  EXPECT_EQ(ranges->take(kPage, uint64_t{1} << 40), 0u);
  EXPECT_EQ(ranges->count, 1u);
}

TEST(FreeRanges, MergeNeighboursIntoOne) {
  Ranges ranges(8);
  ranges->give(kPage, 2 * kPage);
  ranges->give(3 * kPage, 4 * kPage);
  EXPECT_EQ(ranges->count, 2u);
  ranges->give(2 * kPage, 3 * kPage);
  EXPECT_EQ(ranges->count, 1u);
  EXPECT_EQ(ranges->take(3 * kPage, kPage), kPage);
}

}  // namespace
}  // namespace nagaya::task
