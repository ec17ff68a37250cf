// SPDX-License-Identifier: BSD-3-Clause
// Accumulates by one caller.
#include <errno.h>

#include <complex>
#include <random>

#include "accumulate_fixture.h"

namespace nagaya::llcl {
namespace {

TEST_F(AccumulateTest, ReachesExactlyTheElementsOfItsRuns) {
  std::mt19937 random(20261128);
  constexpr ptrdiff_t kMiddle = 8 * kBlockBytes;
  alignas(kBlockBytes) static std::byte memory[2 * kMiddle];
  for (int round = 0; round < 3000; ++round) {
    std::memset(memory, 0, sizeof memory);
    // Two groups of runs apart from each other, some backwards, at any address.
    const size_t in_run = 1 + random() % (random() % 4 == 0 ? 700 : 5);
    const size_t step = 8 * in_run + random() % (random() % 2 == 0 ? 3 : 3000);
    const size_t most = static_cast<size_t>(kMiddle) / step;
    const ptrdiff_t sign = random() % 2 == 0 ? 1 : -1;
    std::byte* const last = memory + kMiddle - static_cast<ptrdiff_t>(8 * in_run);
    std::byte* const start = sign > 0 ? memory + random() % 9 : last - random() % 9;
    nagaya_runs runs[2];
    runs[0] = {nullptr, 8 * in_run, 1 + random() % most, sign * static_cast<ptrdiff_t>(step)};
    runs[0].count = std::min(runs[0].count, most - 1 + (most == 1));
    runs[1] = {reinterpret_cast<void*>(memory + kMiddle + 13 - start), 8 * 2, 100, 24};
    const size_t count = runs[0].count * in_run + random() % 200;
    std::vector<int64_t> before(count, -1);
    const auto values = values_from(1, count), twice = values_from(1, count);
    ASSERT_EQ(add(start, runs, values), 0);
    ASSERT_EQ(add(start, runs, twice, before.data()), 0);
    size_t at = 0, sum_of_all = 0;
    for (const nagaya_runs& group : runs)
      for (size_t run = 0; run < group.count && at < count; ++run)
        for (size_t n = 0; n < group.bytes / 8 && at < count; ++n, ++at) {
          std::byte* const element = start + reinterpret_cast<ptrdiff_t>(group.first) +
                                     static_cast<ptrdiff_t>(run) * group.stride +
                                     static_cast<ptrdiff_t>(8 * n);
          int64_t value;
          std::memcpy(&value, element, 8);
          ASSERT_EQ(value, 2 * values[at]) << "round " << round << ", element " << at;
          ASSERT_EQ(before[at], values[at]) << "round " << round << ", element " << at;
          std::memset(element, 0, 8);
        }
    for (const std::byte byte : memory) sum_of_all += static_cast<size_t>(byte);
    ASSERT_EQ(sum_of_all, 0u) << "round " << round << ": a byte between the runs has changed";
  }
}

TEST_F(AccumulateTest, CombinesElementsThatCrossABlock) {
  alignas(kBlockBytes) static std::byte memory[2 * kBlockBytes];
  using Number = std::complex<double>;
  std::byte* const target = memory + kBlockBytes - 24;
  const std::vector<Number> old{{1, 2}, {3, 4}, {5, 6}}, values{{2, 1}, {1, 1}, {0, 3}};
  std::vector<Number> before(3), after(3);
  std::memcpy(target, old.data(), 48);
  ASSERT_EQ(accumulate({NAGAYA_ELEMENT_COMPLEX_DOUBLE, NAGAYA_REDUCE_PROD, 3, target, nullptr,
                        values.data(), before.data()}),
            0);
  std::memcpy(after.data(), target, 48);
  for (size_t n = 0; n < 3; ++n) EXPECT_EQ(after[n], old[n] * values[n]) << n;
  EXPECT_EQ(before, old);
}

TEST_F(AccumulateTest, LeavesTheGapsOfPairsInRuns) {
  struct Pair {
    double value;
    int index;
    int gap;
  };
  Pair target[6], values[3], before[3];
  for (int n = 0; n < 6; ++n) target[n] = {1.0 * n, n, 77};
  for (int n = 0; n < 3; ++n) values[n] = {2.5, 10 + n, 88}, before[n] = {0, 0, 99};
  const nagaya_runs runs{target, sizeof(Pair), 3, 2 * sizeof(Pair)};
  ASSERT_EQ(accumulate({NAGAYA_ELEMENT_DOUBLE_INT, NAGAYA_REDUCE_MAXLOC, 3, nullptr, &runs, values,
                        before}),
            0);
  const int indices[] = {10, 1, 11, 3, 4, 5};
  for (int n = 0; n < 6; ++n) EXPECT_EQ(target[n].index, indices[n]) << n;
  for (int n = 0; n < 6; ++n) EXPECT_EQ(target[n].gap, 77) << n;
  for (int n = 0; n < 3; ++n) EXPECT_EQ(before[n].index, 2 * n);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(before[n].gap, 99);
}

TEST_F(AccumulateTest, OfNoOpReadsWithoutAnOrigin) {
  const int64_t values[] = {5, 6, 7};
  int64_t before[3] = {};
  const nagaya_runs runs{nullptr, 8, 3, 8};
  for (const nagaya_runs* const target_runs : {static_cast<const nagaya_runs*>(nullptr), &runs}) {
    ASSERT_EQ(accumulate({NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_NO_OP, 3,
                          const_cast<int64_t*>(values), target_runs, nullptr, before}),
              0);
    EXPECT_TRUE(std::equal(before, before + 3, values));
  }
}

TEST_F(AccumulateTest, RefusesMisuseAndChangesNothing) {
  int64_t target[4] = {1, 2, 3, 4};
  const int64_t origin[4] = {1, 1, 1, 1};
  const nagaya_llcl_accumulation right{
      NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, 4, target, nullptr, origin, nullptr};
  const auto expect_refused = [&](auto change) {
    nagaya_llcl_accumulation wrong = right;
    change(wrong);
    EXPECT_EQ(accumulate(wrong), -EINVAL);
  };
  expect_refused([](auto& wrong) { wrong.type = static_cast<nagaya_element_type>(25); });
  expect_refused([](auto& wrong) { wrong.operation = static_cast<nagaya_reduction>(14); });
  expect_refused([](auto& wrong) { wrong.operation = NAGAYA_REDUCE_MAXLOC; });
  expect_refused([](auto& wrong) { wrong.target = nullptr; });
  expect_refused([](auto& wrong) { wrong.origin = nullptr; });
  expect_refused([](auto& wrong) { wrong.count = SIZE_MAX / 4; });
  const nagaya_runs wrong_runs[][2] = {{{nullptr, 12, 4, 12}, {}},
                                       {{nullptr, 16, 1, 16}, {nullptr, 0, 1, 0}},
                                       {{nullptr, 16, 1, 16}, {nullptr, 16, 0, 0}},
                                       {{nullptr, 4, 8, 4}, {}}};
  for (const auto& runs : wrong_runs)
    expect_refused([&](auto& wrong) { wrong.target_runs = runs; });
  for (int64_t n = 0; n < 4; ++n) EXPECT_EQ(target[n], n + 1);

  int64_t word = 1, before = 0;
  const auto swap_of = [&](size_t bytes, void* to) {
    return compare_swap(board(), task(1), {&word, bytes, &word, &word, to});
  };
  for (const size_t bytes : {0, 3, 16}) EXPECT_EQ(swap_of(bytes, &before), -EINVAL);
  EXPECT_EQ(swap_of(8, nullptr), -EINVAL);
}

TEST_F(AccumulateTest, OfNothingTouchesNothing) {
  EXPECT_EQ(
      accumulate({NAGAYA_ELEMENT_INT8, NAGAYA_REDUCE_SUM, 0, nullptr, nullptr, nullptr, nullptr}),
      0);
}

TEST_F(AccumulateTest, ComparesAndSwapsWordsOfEverySize) {
  for (const size_t bytes : {1, 2, 4, 8})
    for (const bool differs : {false, true}) {
      std::byte memory[16], before[8]{};
      std::memset(memory, 7, sizeof memory);
      std::byte expected[8], desired[8];
      std::memset(expected, 7, 8);
      std::memset(desired, 9, 8);
      if (differs) expected[bytes - 1] = std::byte{8};
      ASSERT_EQ(compare_swap(board(), task(1), {memory + 3, bytes, expected, desired, before}), 0);
      for (size_t at = 0; at < 16; ++at)
        EXPECT_EQ(memory[at], !differs && at >= 3 && at < 3 + bytes ? std::byte{9} : std::byte{7});
      for (size_t at = 0; at < 8; ++at) EXPECT_EQ(before[at], std::byte(at < bytes ? 7 : 0));
    }
}

}  // namespace
}  // namespace nagaya::llcl
