// SPDX-License-Identifier: BSD-3-Clause
#include "layout/runs.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nagaya::layout {
namespace {

constexpr size_t kMessageBytes = 3000;

// Runs within memory of their own, no two of which overlap, for `kMessageBytes` and some more.
struct Side {
  explicit Side(std::mt19937& random) : memory(64 << 10) {
    const size_t sizes[] = {1, 4, 8, 13, 16, 64, 200, 900, 4000};
    size_t end = 0;
    for (size_t bytes = 0; bytes < kMessageBytes;) {
      nagaya_runs one{};
      one.bytes = sizes[random() % std::size(sizes)];
      one.count = 1 + random() % (1000 / one.bytes + 1);
      const size_t step = one.bytes + random() % 5;
      const bool is_backwards = random() % 4 == 0;
      one.stride = is_backwards ? -static_cast<ptrdiff_t>(step) : static_cast<ptrdiff_t>(step);
      one.first = memory.data() + end + (is_backwards ? (one.count - 1) * step : 0);
      end += one.count * step + random() % 3;
      runs.push_back(one);
      for (size_t n = 0; n < one.count * one.bytes; ++n)
        bytes_in_order.push_back(static_cast<std::byte*>(one.first) +
                                 static_cast<ptrdiff_t>(n / one.bytes) * one.stride +
                                 n % one.bytes);
      bytes += one.count * one.bytes;
    }
    EXPECT_LE(end, memory.size());
  }

  std::vector<std::byte> memory;
  std::vector<nagaya_runs> runs;
  std::vector<std::byte*> bytes_in_order;
};

TEST(Layout, EveryByteGoesWhereTheOrderOfTheMessageSays) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    Side from(random), to(random);
    for (std::byte& one : from.memory) one = static_cast<std::byte>(random());
    const std::vector<std::byte> before = to.memory;
    const size_t skipped = random() % kMessageBytes, bytes = random() % (kMessageBytes - skipped);
    Walk source(from.runs.data()), target(to.runs.data());
    source.advance(skipped);
    target.advance(skipped);
    copy(target, source, bytes);
    std::vector<std::byte> expected = before;
    for (size_t n = skipped; n < skipped + bytes; ++n)
      expected[static_cast<size_t>(to.bytes_in_order[n] - to.memory.data())] =
          *from.bytes_in_order[n];
    ASSERT_EQ(to.memory, expected) << round;
  }
}

TEST(Layout, ABufferWithoutRunsIsOneRun) {
  std::vector<std::byte> memory(100, std::byte{1});
  std::byte every_second[200] = {};
  const nagaya_runs runs{every_second, 1, 100, 2};
  const Buffer one(memory.data(), memory.size(), nullptr), many(nullptr, 100, &runs);
  EXPECT_TRUE(one.is_one_run());
  EXPECT_FALSE(many.is_one_run());
  copy(Walk(many.runs()), Walk(one.runs()), memory.size());
  for (size_t n = 0; n < sizeof every_second; ++n)
    EXPECT_EQ(every_second[n], std::byte(n % 2 == 0 ? 1 : 0)) << n;
}

TEST(Layout, RunsMayLieFurtherThanTheySay) {
  std::byte from[60] = {}, to[30] = {};
  for (size_t n = 0; n < sizeof from; ++n) from[n] = std::byte(n);
  const nagaya_runs runs{from, 2, 5, 6};
  gather(Buffer(nullptr, 10, &runs, 30), to, 10);
  for (size_t n = 0; n < 10; ++n) EXPECT_EQ(to[n], from[30 + n / 2 * 6 + n % 2]) << n;
}

}  // namespace
}  // namespace nagaya::layout
