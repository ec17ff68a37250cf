// SPDX-License-Identifier: BSD-3-Clause
// accumulate.cc - accumulates of llcl.h by one task and by two: a fetch-and-add of one word, and
// sums of 4 KiB of doubles that lie side by side, or 16 bytes apart. Beside plain loops by one.
#include <array>
#include <atomic>
#include <utility>

#include "in_node.h"

namespace nagaya::bench {
namespace {

constexpr uint64_t kBatch = 1000;
constexpr size_t kCount = 512;

struct Target {
  alignas(4096) std::array<double, 2 * kCount> numbers{};
  alignas(128) uint64_t word = 0;
};

enum class Work { kFetchAdd, kSum, kStridedSum };
constexpr struct {
  Work work;
  const char* figure;
  uint64_t times;
} kWorks[] = {{Work::kFetchAdd, "accumulate_fetch_add", 1'000'000},
              {Work::kSum, "accumulate_4KiB", 200'000},
              {Work::kStridedSum, "accumulate_strided_4KiB", 100'000}};

template <class Operation>
double median_ns(uint64_t times, Operation operation) {
  Batches batches(kBatch);
  for (uint64_t n = 0; n < times; ++n) {
    operation();
    batches.mark();
  }
  return batches.median_ns();
}

const std::array<double, kCount>& ones() {
  static const auto all = [] {
    std::array<double, kCount> numbers;
    numbers.fill(1);
    return numbers;
  }();
  return all;
}

double by_requests(Target& target, Work work, uint64_t times) {
  const uint64_t one = 1;
  uint64_t before;
  const nagaya_runs runs{nullptr, sizeof(double), kCount, 2 * sizeof(double)};
  nagaya_llcl_accumulation what{};
  what.operation = NAGAYA_REDUCE_SUM;
  if (work == Work::kFetchAdd) {
    what.type = NAGAYA_ELEMENT_UINT64;
    what.count = 1;
    what.target = &target.word;
    what.origin = &one;
    what.result = &before;
  } else {
    what.type = NAGAYA_ELEMENT_DOUBLE;
    what.count = kCount;
    what.target = target.numbers.data();
    what.target_runs = work == Work::kStridedSum ? &runs : nullptr;
    what.origin = ones().data();
  }
  return median_ns(times, [&] { check(nagaya_llcl_accumulate(&what), "accumulate"); });
}

double by_loops(Target& target, Work work, uint64_t times) {
  std::atomic_ref word(target.word);
  if (work == Work::kFetchAdd) return median_ns(times, [&] { word.fetch_add(1); });
  const size_t stride = work == Work::kStridedSum ? 2 : 1;
  return median_ns(times, [&] {
    double* const to = target.numbers.data();
    for (size_t n = 0; n < kCount; ++n) to[n * stride] += ones()[n];
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the loops are not merged
  });
}

// Returns whether each element has grown by `sum`, and clears them.
bool have_grown_by(Target& target, Work work, uint64_t sum) {
  if (work == Work::kFetchAdd) return std::exchange(target.word, 0) == sum;
  const size_t stride = work == Work::kStridedSum ? 2 : 1;
  bool right = true;
  for (size_t n = 0; n < kCount; ++n)
    right &= std::exchange(target.numbers[n * stride], 0) == static_cast<double>(sum);
  return right;
}

}  // namespace

void measure_accumulate(const Stage& stage) {
  auto* const own = new Target;
  check(nagaya_task_publish("target", own), "publish");
  Target& target = of_rank<Target>(0, "target");
  for (int round = 0; round < stage.rounds; ++round)
    for (const auto& [work, name, full_times] : kWorks) {
      const std::string figure = name;
      const uint64_t times = stage.times(full_times);
      stage.meet();
      const double both_ns = by_requests(target, work, times);
      stage.meet();
      if (!stage.leads()) continue;
      expect(!stage.corrupt && have_grown_by(target, work, 2 * times));
      stage.report(figure, kSubject, both_ns);
      stage.report(figure + "_alone", kSubject, by_requests(target, work, times));
      stage.report(figure + "_alone", kFloor, by_loops(target, work, times));
      expect(have_grown_by(target, work, 2 * times));
    }
}

}  // namespace nagaya::bench
