// SPDX-License-Identifier: BSD-3-Clause
// Reductions against a reference that combines rank by rank, with an operation that does not
// commute.
#include "members.h"

namespace nagaya::coll {
namespace {

// x -> a x + b modulo 2^64: to do one after the other is associative, and does not commute.
struct Map {
  uint64_t a, b;
  bool operator==(const Map&) const = default;
};
Map after(const Map& first, const Map& second) {
  return {first.a * second.a, first.b * second.a + second.b};
}
// As long as the widest of C's numbers: a compiler loads them as if they lay where malloc's do.
static_assert(sizeof(Map) == alignof(std::max_align_t));
void reduce(void*, const void* in, void* inout, size_t count) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(in) % sizeof(Map), 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(inout) % sizeof(Map), 0u);
  const auto* const first = static_cast<const Map*>(in);
  auto* const second = static_cast<Map*>(inout);
  for (size_t n = 0; n < count; ++n) second[n] = after(first[n], second[n]);
}

// The same in elements with gaps, which nobody may touch.
struct Gapped {
  uint64_t before_a = 0xee, a, between = 0xee, b, behind = 0xee;
  bool operator==(const Gapped&) const = default;
};
void copy_gapped(void*, void* to, const void* from, size_t count) {
  for (size_t n = 0; n < count; ++n) {
    static_cast<Gapped*>(to)[n].a = static_cast<const Gapped*>(from)[n].a;
    static_cast<Gapped*>(to)[n].b = static_cast<const Gapped*>(from)[n].b;
  }
}
void reduce_gapped(void*, const void* in, void* inout, size_t count) {
  const auto* const first = static_cast<const Gapped*>(in);
  auto* const second = static_cast<Gapped*>(inout);
  for (size_t n = 0; n < count; ++n) {
    const Map both = after({first[n].a, first[n].b}, {second[n].a, second[n].b});
    second[n].a = both.a;
    second[n].b = both.b;
  }
}

// The same without gaps: each element lies below its predecessor in memory.
struct Backwards : Map {};
void copy_backwards(void*, void* to, const void* from, size_t count) {
  for (size_t n = 0; n < count; ++n)
    *(static_cast<Map*>(to) - n) = *(static_cast<const Map*>(from) - n);
}
void reduce_backwards(void*, const void* in, void* inout, size_t count) {
  for (size_t n = 0; n < count; ++n)
    reduce(nullptr, static_cast<const Map*>(in) - n, static_cast<Map*>(inout) - n, 1);
}

Map element(uint32_t rank, size_t n) {
  return {2 * n + 2 * rank + 3, n * n + rank};
}

// Of the ranks 0 .. count - 1.
Map expected(uint32_t count, size_t n) {
  Map all = element(0, n);
  for (uint32_t rank = 1; rank < count; ++rank) all = after(all, element(rank, n));
  return all;
}

template <class Element>
Element element_of(const Map& map) {
  if constexpr (std::is_same_v<Element, Map>)
    return map;
  else if constexpr (std::is_same_v<Element, Backwards>)
    return {map};
  else
    return {.a = map.a, .b = map.b};
}

// Element `n` of those that a member has in `memory`.
template <class Element>
Element& at(std::vector<Element>& memory, size_t n) {
  return memory[std::is_same_v<Element, Backwards> ? memory.size() - 1 - n : n];
}

// Members, and processors of their node: large teams are those whose members do not share them.
struct Size {
  uint32_t members, processors;
};
constexpr Size kSizes[] = {{1, 2},  {2, 2},   {3, 2},   {5, 2},  {8, 2},
                           {33, 2}, {16, 16}, {23, 64}, {33, 64}};
constexpr size_t kCounts[] = {0, 1, 2, 7, 256, 257, 513, 3000};

template <class Element>
class Reduce : public testing::Test {
 protected:
  static nagaya_elements elements(size_t count) {
    nagaya_elements all{};
    all.count = count;
    all.extent = sizeof(Element);
    all.reduce = reduce;
    if constexpr (std::is_same_v<Element, Gapped>) {
      all.reduce = reduce_gapped;
      all.copy = copy_gapped;
      all.true_lb = offsetof(Gapped, a);
      all.true_extent = offsetof(Gapped, behind) - offsetof(Gapped, a);
    }
    if constexpr (std::is_same_v<Element, Backwards>) {
      all.extent = -sizeof(Element);
      all.reduce = reduce_backwards;
      all.copy = copy_backwards;
      all.true_extent = sizeof(Element);
    }
    return all;
  }

  // All members give `count` elements; in place at all of them or at none.
  void run(Members& members, nagaya_collective_kind kind, uint32_t root, size_t count,
           bool is_in_place, const std::vector<size_t>& shares = {}) {
    const uint32_t size = members.size();
    std::vector<nagaya_collective> all(size);
    send_.assign(size, {});
    receive_.assign(size, std::vector<Element>(count + 1, element_of<Element>({1, 1})));
    for (uint32_t rank = 0; rank < size; ++rank) {
      std::vector<Element>& from = is_in_place ? receive_[rank] : send_[rank];
      from.resize(count + 1);
      for (size_t n = 0; n < count; ++n) at(from, n) = element_of<Element>(element(rank, n));
      all[rank].kind = kind;
      all[rank].root = root;
      all[rank].elements = elements(count);
      if (!shares.empty()) all[rank].elements.count_of = shares.data();
      all[rank].send.base = &at(from, 0);
      all[rank].receive.base = &at(receive_[rank], 0);
    }
    members.run(all, random_);
  }
  // `rank` has the reduction of `ranks`, from element `first` on.
  void expect(uint32_t rank, uint32_t ranks, size_t first, size_t count) {
    for (size_t n = 0; n < count; ++n)
      ASSERT_EQ(at(receive_[rank], n), element_of<Element>(expected(ranks, first + n)))
          << rank << " of " << ranks << ", element " << n << " of " << count;
  }

  std::vector<std::vector<Element>> send_, receive_;
  std::mt19937 random_{1};
};

using Elements = testing::Types<Map, Gapped, Backwards>;
TYPED_TEST_SUITE(Reduce, Elements);

TYPED_TEST(Reduce, GivesTheRootAllRanksInTheirOrder) {
  for (const auto [size, processors] : kSizes) {
    Members members(size, processors);
    for (const size_t count : kCounts)
      for (const bool is_in_place : {false, true})
        for (const uint32_t root : {0u, size - 1}) {
          this->run(members, NAGAYA_REDUCE, root, count, is_in_place);
          this->expect(root, size, 0, count);
        }
  }
}

TYPED_TEST(Reduce, GivesAllTheSame) {
  for (const auto [size, processors] : kSizes) {
    Members members(size, processors);
    for (const size_t count : kCounts)
      for (const bool is_in_place : {false, true}) {
        this->run(members, NAGAYA_ALLREDUCE, 0, count, is_in_place);
        for (uint32_t rank = 0; rank < size; ++rank) this->expect(rank, size, 0, count);
      }
  }
}

TYPED_TEST(Reduce, ScansGiveTheRanksBefore) {
  for (const auto [size, processors] : kSizes) {
    Members members(size, processors);
    for (const size_t count : kCounts)
      for (const bool is_in_place : {false, true}) {
        this->run(members, NAGAYA_SCAN, 0, count, is_in_place);
        for (uint32_t rank = 0; rank < size; ++rank) this->expect(rank, rank + 1, 0, count);
        this->run(members, NAGAYA_EXSCAN, 0, count, is_in_place);
        for (uint32_t rank = 1; rank < size; ++rank) this->expect(rank, rank, 0, count);
      }
  }
}

TYPED_TEST(Reduce, ReduceScatterGivesEachItsShare) {
  for (const auto [size, processors] : kSizes) {
    Members members(size, processors);
    for (const size_t count : kCounts)
      for (const bool is_in_place : {false, true}) {
        std::vector<size_t> shares(size);
        size_t total = 0;
        for (uint32_t rank = 0; rank < size; ++rank) total += shares[rank] = count * (rank % 3);
        this->run(members, NAGAYA_REDUCE_SCATTER, 0, total, is_in_place, shares);
        size_t first = 0;
        for (uint32_t rank = 0; rank < size; first += shares[rank++])
          this->expect(rank, size, first, shares[rank]);
        this->run(members, NAGAYA_REDUCE_SCATTER, 0, count * size, is_in_place);
        for (uint32_t rank = 0; rank < size; ++rank) this->expect(rank, size, rank * count, count);
      }
  }
}

// The root of a crowded team combines 8 KiB sooner than all members, which take turns, their
// slices.
TEST(CrowdedTeam, LetsTheRootOfAReduceCombineUpToALimitOfItsOwn) {
  constexpr uint32_t kSize = 3;
  const auto name = [](nagaya_collective_kind kind, size_t bytes, uint32_t processors) {
    Members members(kSize, processors);
    nagaya_collective what{};
    what.kind = kind;
    what.elements.count = bytes / sizeof(Map);
    what.elements.extent = sizeof(Map);
    return std::string(algorithm_of(what, members.team(0)).name);
  };
  EXPECT_EQ(name(NAGAYA_REDUCE, 8192, kSize - 1), "combine");
  EXPECT_EQ(name(NAGAYA_REDUCE, 8208, kSize - 1), "slices");
  EXPECT_EQ(name(NAGAYA_REDUCE, 8192, kSize), "slices");
  EXPECT_EQ(name(NAGAYA_ALLREDUCE, 8192, kSize - 1), "slices");
}

// Members leave the barrier when the last has come to it, and not before.
TEST(LargeTeam, LeavesABarrierWithItsLastMember) {
  for (const uint32_t size : {16u, 17u, 33u, 64u, 65u}) {
    Members members(size, size);
    EXPECT_TRUE(members.team(0).is_large());
    for (const uint32_t last : {0u, 1u, 15u, size - 1}) {
      std::vector<nagaya_collective> all(size);
      std::vector<std::unique_ptr<Operation>> moving;
      for (uint32_t rank = 0; rank < size; ++rank)
        if (rank != last) moving.push_back(members.start(rank, all[rank]));
      for (uint32_t look = 0; look < 10; ++look)
        for (const auto& operation : moving) EXPECT_FALSE(operation->advance());
      moving.push_back(members.start(last, all[last]));
      for (uint32_t look = 0; look < 10; ++look)
        std::erase_if(moving, [](const auto& operation) { return operation->advance(); });
      EXPECT_TRUE(moving.empty());
    }
  }
}

// A barrier has no elements, whatever is left in its members' structs.
TEST(LargeTeam, MeetsWhateverElementsAreSaid) {
  constexpr uint32_t kSize = 17;
  Members members(kSize, kSize);
  std::vector<Map> values(kSize, Map{3, 4});
  std::vector<nagaya_collective> all(kSize);
  for (uint32_t rank = 0; rank < kSize; ++rank) {
    all[rank].kind = NAGAYA_BARRIER;
    all[rank].elements.count = rank % 3 * 1000;
    all[rank].elements.extent = sizeof(Map);
    all[rank].elements.reduce = reduce;
    all[rank].send.base = all[rank].receive.base = &values[rank];
  }
  std::mt19937 random{3};
  members.run(all, random);
  for (const Map& value : values) EXPECT_EQ(value, (Map{3, 4}));
}

TEST(LargeTeam, AScanWaitsForNobodyBehindIt) {
  constexpr uint32_t kSize = 17, kLast = 16;
  Members members(kSize, kSize);
  std::vector<Map> values;
  std::vector<nagaya_collective> all(kSize);
  std::vector<std::unique_ptr<Operation>> moving;
  for (uint32_t rank = 0; rank < kSize; ++rank) values.push_back(element(rank, 0));
  for (uint32_t rank = 0; rank < kLast; ++rank) {
    all[rank].kind = NAGAYA_SCAN;
    all[rank].elements.count = 1;
    all[rank].elements.extent = sizeof(Map);
    all[rank].elements.reduce = reduce;
    all[rank].send.base = all[rank].receive.base = &values[rank];
    moving.push_back(members.start(rank, all[rank]));
  }
  for (uint32_t look = 0; look < 10; ++look)
    std::erase_if(moving, [](const auto& operation) { return operation->advance(); });
  EXPECT_TRUE(moving.empty());
  for (uint32_t rank = 0; rank < kLast; ++rank) EXPECT_EQ(values[rank], expected(rank + 1, 0));
}

// Sums of doubles depend on the order of the additions: here from left to right, however the
// members move.
TEST(Scan, IsTheSameBitForBitWhateverSumsItsMembersFind) {
  constexpr uint32_t kSize = 9;
  const auto add = [](void*, const void* in, void* inout, size_t) {
    *static_cast<double*>(inout) += *static_cast<const double*>(in);
  };
  Members members(kSize);
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::vector<double> values, sums;
    std::vector<nagaya_collective> all(kSize);
    for (uint32_t rank = 0; rank < kSize; ++rank) {
      values.push_back(0.1 * (rank + 1));
      sums.push_back(rank == 0 ? values[0] : sums.back() + values[rank]);
    }
    for (uint32_t rank = 0; rank < kSize; ++rank) {
      all[rank].kind = NAGAYA_SCAN;
      all[rank].elements.count = 1;
      all[rank].elements.extent = sizeof(double);
      all[rank].elements.reduce = add;
      all[rank].send.base = all[rank].receive.base = &values[rank];
    }
    std::mt19937 random{seed};
    members.run(all, random);
    EXPECT_EQ(values, sums) << "seed " << seed;
  }
}

TEST(LargeTeam, DoesNotShareProcessors) {
  EXPECT_FALSE(Members(15, 64).team(0).is_large());
  EXPECT_FALSE(Members(17, 16).team(0).is_large());
}

// Each member has its own distance from one column to the next.
TEST(ReduceColumns, CombinesThemWhereTheyAre) {
  constexpr size_t kRows = 25;
  for (const auto [size, processors] : kSizes)
    for (const size_t columns : {1u, 2u, 10u, 90u})
      for (const auto kind : {NAGAYA_REDUCE, NAGAYA_ALLREDUCE}) {
        Members members(size, processors);
        const Map gap{0xee, 0xee};
        std::vector<nagaya_collective> all(size);
        std::vector<std::vector<Map>> matrices(size);
        std::vector<nagaya_runs> runs(size);
        for (uint32_t rank = 0; rank < size; ++rank) {
          const size_t apart = kRows + rank % 4;
          matrices[rank].assign(apart * columns, gap);
          for (size_t n = 0; n < kRows * columns; ++n)
            matrices[rank][n / kRows * apart + n % kRows] = element(rank, n);
          runs[rank] = {matrices[rank].data(), kRows * sizeof(Map), columns,
                        static_cast<ptrdiff_t>(apart * sizeof(Map))};
          all[rank].kind = kind;
          all[rank].root = size / 2;
          all[rank].send.runs = all[rank].receive.runs = &runs[rank];
          all[rank].elements.count = kRows * columns;
          all[rank].elements.extent = sizeof(Map);
          all[rank].elements.reduce = reduce;
        }
        std::mt19937 random{2};
        members.run(all, random);
        for (uint32_t rank = 0; rank < size; ++rank) {
          if (kind == NAGAYA_REDUCE && rank != size / 2) continue;
          const size_t apart = kRows + rank % 4;
          for (size_t n = 0; n < apart * columns; ++n) {
            const size_t row = n % apart, number = n / apart * kRows + row;
            EXPECT_EQ(matrices[rank][n], row < kRows ? expected(size, number) : gap) << n;
          }
        }
      }
}

}  // namespace
}  // namespace nagaya::coll
