// SPDX-License-Identifier: BSD-3-Clause
// Accesses with random runs on both sides, against an oracle that moves one element at a time.
#include "window/access.h"

#include <algorithm>
#include <cstring>

#include "members.h"

namespace nagaya::window {
namespace {

using Element = uint32_t;
constexpr size_t kElements = 256;
constexpr size_t kMemoryBytes = kElements * sizeof(Element);

// The places of up to `most` different elements, by random runs.
struct Places {
  std::vector<nagaya_runs> runs;  // of offsets
  std::vector<size_t> elements;   // in the order of the message
  size_t bytes() const { return elements.size() * sizeof(Element); }

  Places(std::mt19937& random, size_t most) {
    size_t next = 0;
    while (elements.size() < most) {
      const size_t in_run = 1 + random() % 4, gap = random() % 3;
      const size_t count = std::min<size_t>(1 + random() % 5, (most - elements.size()) / in_run);
      if (count == 0) break;
      add(next, in_run, count, in_run + gap, random() % 4 == 0);
      next += count * (in_run + gap) + random() % 3;
      if (next + 40 > kElements) break;
    }
  }
  // One run of elements.
  Places(size_t first, size_t count) { add(first, count, 1, count, false); }

  // Cuts both to as many elements as the shorter has: by runs of one element.
  void cut(size_t count) {
    if (count == elements.size()) return;
    elements.resize(count);
    runs.clear();
    for (const size_t element : elements)
      runs.push_back({reinterpret_cast<void*>(element * sizeof(Element)), sizeof(Element), 1, 0});
  }
  // The runs from `memory` on.
  std::vector<nagaya_runs> in(void* memory) const {
    std::vector<nagaya_runs> all = runs;
    for (nagaya_runs& one : all)
      one.first = static_cast<char*>(memory) + reinterpret_cast<ptrdiff_t>(one.first);
    return all;
  }

 private:
  void add(size_t first, size_t in_run, size_t count, size_t step, bool is_backwards) {
    const auto bytes = static_cast<ptrdiff_t>(step * sizeof(Element));
    const size_t begin = is_backwards ? first + (count - 1) * step : first;
    runs.push_back({reinterpret_cast<void*>(begin * sizeof(Element)), in_run * sizeof(Element),
                    count, is_backwards ? -bytes : bytes});
    for (size_t n = 0; n < count; ++n)
      for (size_t m = 0; m < in_run; ++m)
        elements.push_back(first + (is_backwards ? count - 1 - n : n) * step + m);
  }
};

// A window of every member's `memory`, and what it should hold.
class AccessTest : public testing::TestWithParam<uint32_t> {
 protected:
  AccessTest() : members_(GetParam()), memory_(GetParam()), expected_(GetParam()) {
    std::vector<nagaya_window_memory> own;
    for (auto& memory : memory_) {
      memory.resize(kElements);
      for (Element& element : memory) element = random() % 1000;
      own.push_back({NAGAYA_WINDOW_CREATE, memory.data(), kMemoryBytes, sizeof(Element), 0, 0});
    }
    expected_ = memory_;
    handles_ = members_.opened(own);
    for (const auto& window : handles_) EXPECT_EQ(window->epochs().begin_lock_all(true), 0);
  }

  uint32_t random() { return members_.random(); }
  std::vector<Element> random_elements() {
    std::vector<Element> all(kElements);
    for (Element& element : all) element = random() % 1000;
    return all;
  }
  static nagaya_window_buffer buffer(const Places& places, const std::vector<nagaya_runs>& runs) {
    if (runs.size() == 1 && runs[0].count == 1) return {runs[0].first, places.bytes(), nullptr, 0};
    return {nullptr, places.bytes(), runs.data(), runs.size()};
  }

  void put_or_get(bool is_put) {
    Window& origin = *handles_[random() % members_.size()];
    const uint32_t target = random() % members_.size();
    Places here(members_.random, 60), there(members_.random, 60);
    here.cut(std::min(here.elements.size(), there.elements.size()));
    there.cut(here.elements.size());
    std::vector<Element> own = random_elements(), wanted = own;
    const auto own_runs = here.in(own.data());
    const nagaya_window_buffer side = buffer(here, own_runs);
    const nagaya_window_target to{target, 0, buffer(there, there.runs)};
    ASSERT_EQ(is_put ? put(origin, side, to) : get(origin, side, to), 0);
    for (size_t n = 0; n < here.elements.size(); ++n)
      if (is_put)
        expected_[target][there.elements[n]] = own[here.elements[n]];
      else
        wanted[here.elements[n]] = expected_[target][there.elements[n]];
    ASSERT_EQ(own, wanted);
    ASSERT_EQ(memory_, expected_);
  }

  void accumulate_randomly() {
    Window& origin = *handles_[random() % members_.size()];
    const uint32_t target = random() % members_.size();
    Places here(members_.random, 60), there(members_.random, 60), before(members_.random, 60);
    const size_t count =
        std::min({here.elements.size(), there.elements.size(), before.elements.size()});
    for (Places* const places : {&here, &there, &before}) places->cut(count);
    const std::vector<Element> own = random_elements();
    std::vector<Element> result = random_elements(), wanted = result;
    const auto own_runs = here.in(const_cast<Element*>(own.data()));
    const auto result_runs = before.in(result.data());
    const nagaya_window_buffer from = buffer(here, own_runs), old = buffer(before, result_runs);
    const bool is_sum = random() % 2 == 0, has_result = random() % 2 == 0;
    ASSERT_EQ(
        accumulate(origin, &from, has_result ? &old : nullptr,
                   {target, 0, buffer(there, there.runs)},
                   {NAGAYA_ELEMENT_UINT32, is_sum ? NAGAYA_REDUCE_SUM : NAGAYA_REDUCE_REPLACE}),
        0);
    for (size_t n = 0; n < count; ++n) {
      Element& element = expected_[target][there.elements[n]];
      if (has_result) wanted[before.elements[n]] = element;
      element = own[here.elements[n]] + (is_sum ? element : 0);
    }
    ASSERT_EQ(result, wanted);
    ASSERT_EQ(memory_, expected_);
  }

  Members members_;
  std::vector<std::vector<Element>> memory_, expected_;
  Handles handles_;
};

INSTANTIATE_TEST_SUITE_P(Sizes, AccessTest, testing::Values(1, 2, 5, 16));

TEST_P(AccessTest, RandomAccessesEqualThoseOfTheOracle) {
  for (int step = 0; step < 600 && !HasFatalFailure(); ++step) {
    put_or_get(true);
    put_or_get(false);
    accumulate_randomly();
  }
}

TEST_P(AccessTest, ALargePutFitsBetweenItsNeighbours) {
  constexpr size_t kLarge = 1 << 20;
  const nagaya_window_memory own{NAGAYA_WINDOW_ALLOCATE, nullptr, kLarge + 2, 1, 0, 0};
  const Handles handles = members_.opened(own, 2);
  std::vector<char> data(kLarge, 'x');
  EXPECT_EQ(handles[0]->epochs().begin_lock_all(true), 0);
  ASSERT_EQ(
      put(*handles[0], {data.data(), kLarge, nullptr, 0}, {0, 1, {nullptr, kLarge, nullptr, 0}}),
      0);
  const auto* const at = reinterpret_cast<const char*>(handles[0]->part(0).base);
  EXPECT_EQ(std::count(at, at + kLarge + 2, 'x'), static_cast<ptrdiff_t>(kLarge));
  EXPECT_EQ(at[0] | at[kLarge + 1], 0);
}

TEST_P(AccessTest, FetchAndOpAndCompareAndSwapReturnTheElementFromBefore) {
  Window& origin = *handles_[0];
  const uint32_t target = members_.size() - 1;
  const Element before = memory_[target][7], one = 1, other = before + 5;
  Element result = 0;
  const ElementOperation add{NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_SUM};
  EXPECT_EQ(fetch_and_op(origin, target, 7, {&one, &result}, add), 0);
  EXPECT_EQ(result, before);
  EXPECT_EQ(fetch_and_op(origin, target, 7, {nullptr, &result},
                         {NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_NO_OP}),
            0);
  EXPECT_EQ(result, before + 1);
  EXPECT_EQ(compare_and_swap(origin, target, 7, {&other, &before, &result, NAGAYA_ELEMENT_UINT32}),
            0);
  EXPECT_EQ(result, before + 1);
  EXPECT_EQ(memory_[target][7], before + 1);
  EXPECT_EQ(compare_and_swap(origin, target, 7, {&other, &result, &result, NAGAYA_ELEMENT_UINT32}),
            0);
  EXPECT_EQ(memory_[target][7], before + 5);
}

TEST_P(AccessTest, TheGapsOfPairsStayAsTheyAre) {
  struct Pair {
    short value, gap;
    int index;
  };
  Pair old[2] = {{7, 1, 2}, {8, 1, 3}}, result[3];
  std::memcpy(memory_[0].data(), old, sizeof old);
  for (Pair& one : result) one = {-1, -1, -1};
  // The target's pairs go into the first and the last of three.
  const nagaya_runs runs = {result, sizeof(Pair), 2, 2 * sizeof(Pair)};
  const nagaya_window_buffer into = {nullptr, sizeof old, &runs, 1};
  ASSERT_EQ(accumulate(*handles_[0], nullptr, &into, {0, 0, {nullptr, sizeof old, nullptr, 0}},
                       {NAGAYA_ELEMENT_SHORT_INT, NAGAYA_REDUCE_NO_OP}),
            0);
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(result[2 * n].value, old[n].value);
    EXPECT_EQ(result[2 * n].index, old[n].index);
    EXPECT_EQ(result[2 * n].gap, -1);
  }
  EXPECT_EQ(result[1].index, -1);
}

TEST_P(AccessTest, NoElementsNeedNoOperationThatIsDefinedForThem) {
  const nagaya_window_buffer nothing = {memory_[0].data(), 0, nullptr, 0};
  EXPECT_EQ(accumulate(*handles_[0], &nothing, &nothing, {0, 0, nothing},
                       {NAGAYA_ELEMENT_BYTE, NAGAYA_REDUCE_SUM}),
            0);
}

TEST_P(AccessTest, ElementsWithAGapAtTheirEndMayEndWithTheWindow) {
  struct [[gnu::packed]] Pair {
    double value;
    int index;
  };
  constexpr size_t kExtent = 16;  // of double and int
  const Pair pair = {2.5, 7};
  std::byte operand[kExtent] = {}, old[kExtent] = {};
  std::memcpy(operand, &pair, sizeof pair);
  const nagaya_window_buffer from = {operand, kExtent, nullptr, 0};
  const uint64_t last = kElements - sizeof pair / sizeof(Element);
  const nagaya_window_target to = {0, last, {nullptr, kExtent, nullptr, 0}};
  const ElementOperation replace = {NAGAYA_ELEMENT_DOUBLE_INT, NAGAYA_REDUCE_REPLACE};
  EXPECT_EQ(accumulate(*handles_[0], &from, nullptr, to, replace), 0);
  EXPECT_EQ(std::memcmp(&memory_[0][last], &pair, sizeof pair), 0);
  EXPECT_EQ(fetch_and_op(*handles_[0], 0, last, {nullptr, old},
                         {NAGAYA_ELEMENT_DOUBLE_INT, NAGAYA_REDUCE_NO_OP}),
            0);
  EXPECT_EQ(std::memcmp(old, &pair, sizeof pair), 0);
  EXPECT_EQ(accumulate(*handles_[0], &from, nullptr, {0, last + 1, to.place}, replace), -ERANGE);

  // Pairs that lie closer together than C would put them: nothing behind the last is written.
  std::byte close[2 * sizeof pair + 4];
  std::memset(close, 0xee, sizeof close);
  const nagaya_runs runs = {close, kExtent, 2, sizeof pair};
  const nagaya_window_buffer into = {nullptr, 2 * kExtent, &runs, 1};
  ASSERT_EQ(accumulate(*handles_[0], nullptr, &into, {0, 0, {nullptr, 2 * kExtent, nullptr, 0}},
                       {NAGAYA_ELEMENT_DOUBLE_INT, NAGAYA_REDUCE_NO_OP}),
            0);
  for (size_t n = 0; n < 2; ++n)
    EXPECT_EQ(std::memcmp(close + n * sizeof pair, &memory_[0][n * kExtent / sizeof(Element)],
                          sizeof pair),
              0);
  for (size_t n = 2 * sizeof pair; n < sizeof close; ++n) EXPECT_EQ(close[n], std::byte{0xee});
}

TEST_P(AccessTest, ConcurrentUpdatesAreNotLost) {
  constexpr uint32_t kRounds = 2000;
  std::fill(memory_[0].begin(), memory_[0].end(), 0);
  members_.run_threads([&](uint32_t rank) {
    const std::vector<Element> ones(8, 1);
    const nagaya_window_buffer from{const_cast<Element*>(ones.data()), 32, nullptr, 0};
    Element result = 0, next = 0;
    for (uint32_t round = 0; round < kRounds; ++round) {
      ASSERT_EQ(accumulate(*handles_[rank], &from, nullptr, {0, 0, {nullptr, 32, nullptr, 0}},
                           {NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_SUM}),
                0);
      Element seen = 0;
      do {
        seen = result, next = seen + 1;
        ASSERT_EQ(
            compare_and_swap(*handles_[rank], 0, 8, {&next, &seen, &result, NAGAYA_ELEMENT_UINT32}),
            0);
      } while (result != seen);
    }
  });
  for (size_t n = 0; n < 9; ++n) EXPECT_EQ(memory_[0][n], members_.size() * kRounds);
}

TEST_P(AccessTest, PlacesOutsideOfTheWindowAreRefused) {
  Element own[4]{};
  const auto try_put = [&](uint64_t displacement, ptrdiff_t offset, size_t bytes) {
    return put(*handles_[0], {own, bytes, nullptr, 0},
               {0, displacement, {reinterpret_cast<void*>(offset), bytes, nullptr, 0}});
  };
  EXPECT_EQ(try_put(kElements - 1, 0, 4), 0);
  EXPECT_EQ(try_put(kElements - 1, 0, 5), -ERANGE);
  EXPECT_EQ(try_put(kElements, -4, 4), 0);
  EXPECT_EQ(try_put(kElements, 0, 1), -ERANGE);
  EXPECT_EQ(try_put(0, -1, 4), -ERANGE);
  EXPECT_EQ(try_put(UINT64_MAX / 2, 0, 4), -ERANGE);
  EXPECT_EQ(try_put(INT64_MAX / 4, INT64_MAX, 4), -ERANGE);
  EXPECT_EQ(try_put(kElements + 5, 0, 0), 0);
  const nagaya_runs runs{nullptr, 4, 2, kMemoryBytes};
  EXPECT_EQ(put(*handles_[0], {own, 8, nullptr, 0}, {0, 0, {nullptr, 8, &runs, 1}}), -ERANGE);
  const nagaya_runs endless{nullptr, 4, 2, INT64_MAX};
  EXPECT_EQ(put(*handles_[0], {own, 8, nullptr, 0}, {0, 1, {nullptr, 8, &endless, 1}}), -ERANGE);
  EXPECT_EQ(fetch_and_op(*handles_[0], 0, kElements, {own, own},
                         {NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_SUM}),
            -ERANGE);
}

TEST_P(AccessTest, ArgumentsThatDoNotFitAreRefused) {
  Element own[4]{};
  Window& origin = *handles_[0];
  const nagaya_window_target to{0, 0, {nullptr, 8, nullptr, 0}};
  const nagaya_window_buffer from{own, 8, nullptr, 0}, shorter{own, 4, nullptr, 0};
  const nagaya_runs runs{own, 4, 1, 0};
  EXPECT_EQ(put(origin, shorter, to), -EINVAL);
  EXPECT_EQ(put(origin, {nullptr, 8, &runs, 1}, to), -EINVAL);
  EXPECT_EQ(put(origin, from, {members_.size(), 0, {nullptr, 8, nullptr, 0}}), -EINVAL);
  const auto try_accumulate = [&](const nagaya_window_buffer* side, auto type, auto operation) {
    return accumulate(
        origin, side, nullptr, to,
        {static_cast<nagaya_element_type>(type), static_cast<nagaya_reduction>(operation)});
  };
  EXPECT_EQ(try_accumulate(&from, NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_SUM), 0);
  EXPECT_EQ(try_accumulate(&shorter, NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_SUM), -EINVAL);
  EXPECT_EQ(try_accumulate(nullptr, NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_SUM), -EINVAL);
  EXPECT_EQ(try_accumulate(&from, NAGAYA_ELEMENT_DOUBLE, NAGAYA_REDUCE_BAND), -EINVAL);
  EXPECT_EQ(try_accumulate(&from, NAGAYA_ELEMENT_LONG_DOUBLE, NAGAYA_REDUCE_SUM), -EINVAL);
  EXPECT_EQ(try_accumulate(&from, 1000, NAGAYA_REDUCE_SUM), -EINVAL);
  EXPECT_EQ(try_accumulate(&from, NAGAYA_ELEMENT_UINT32, 1000), -EINVAL);
  EXPECT_EQ(compare_and_swap(origin, 0, 0, {own, own, own, NAGAYA_ELEMENT_DOUBLE}), -EINVAL);
}

TEST_P(AccessTest, ADynamicWindowTakesAddressesThatAreAttached) {
  const Handles handles =
      members_.opened(nagaya_window_memory{NAGAYA_WINDOW_DYNAMIC, nullptr, 0, 1, 0, 0}, 2);
  for (const auto& window : handles) EXPECT_EQ(window->epochs().begin_lock_all(true), 0);
  const uint32_t target = members_.size() - 1;
  Element own[2] = {1, 2}, there[4]{};
  const auto try_put = [&](Element* at, size_t bytes) {
    return put(*handles[0], {own, bytes, nullptr, 0},
               {target, reinterpret_cast<uint64_t>(at), {nullptr, bytes, nullptr, 0}});
  };
  EXPECT_EQ(try_put(there + 1, 8), -ERANGE);
  ASSERT_EQ(handles[target]->attach(there + 1, 8), 0);
  EXPECT_EQ(handles[target]->attach(there, 8), -EEXIST);
  EXPECT_EQ(try_put(there + 1, 8), 0);
  EXPECT_EQ(there[0] + there[3], 0u);
  EXPECT_EQ(there[1] + 10 * there[2], 21u);
  EXPECT_EQ(try_put(there + 2, 8), -ERANGE);
  ASSERT_EQ(handles[target]->detach(there + 1), 0);
  EXPECT_EQ(try_put(there + 1, 8), -ERANGE);
}

TEST_P(AccessTest, RunsMayLieInRegionsThatDoNotFollowEachOther) {
  const Handles handles =
      members_.opened(nagaya_window_memory{NAGAYA_WINDOW_DYNAMIC, nullptr, 0, 1, 0, 0}, 2);
  EXPECT_EQ(handles[0]->epochs().begin_lock_all(true), 0);
  const Element own[2] = {5, 6};
  Element there[5]{};
  const nagaya_runs runs = {nullptr, sizeof(Element), 2, 4 * sizeof(Element)};
  const auto put_both = [&] {
    return put(*handles[0], {const_cast<Element*>(own), sizeof own, nullptr, 0},
               {0, reinterpret_cast<uint64_t>(there), {nullptr, sizeof own, &runs, 1}});
  };
  ASSERT_EQ(handles[0]->attach(there, sizeof(Element)), 0);
  EXPECT_EQ(put_both(), -ERANGE);
  ASSERT_EQ(handles[0]->attach(there + 4, sizeof(Element)), 0);
  EXPECT_EQ(put_both(), 0);
  EXPECT_EQ(there[0], 5u);
  EXPECT_EQ(there[4], 6u);
}

TEST_P(AccessTest, AnAccessUsesTheEpochOfAFenceUnlessItFails) {
  bool was_unchecked = false;
  Epochs& epochs = handles_[0]->epochs();
  ASSERT_EQ(epochs.end_lock_all(&was_unchecked), 0);
  const Element own = 1;
  const nagaya_window_buffer from{const_cast<Element*>(&own), sizeof own, nullptr, 0};
  const nagaya_window_buffer there{nullptr, sizeof own, nullptr, 0};
  epochs.end_fence(true);
  EXPECT_EQ(put(*handles_[0], from, {0, kElements, there}), -ERANGE);
  ASSERT_EQ(epochs.begin_start(), 0);
  epochs.end_start();
  epochs.end_fence(true);
  EXPECT_EQ(put(*handles_[0], from, {0, 0, there}), 0);
  EXPECT_EQ(epochs.begin_start(), -EBUSY);
}

TEST_P(AccessTest, WithoutAnEpochNoAccessHappens) {
  bool was_unchecked = false;
  EXPECT_EQ(handles_[0]->epochs().end_lock_all(&was_unchecked), 0);
  Element own = 77;
  const nagaya_window_buffer side{&own, 4, nullptr, 0};
  const nagaya_window_target other{0, 0, {nullptr, 4, nullptr, 0}};
  const ElementOperation add{NAGAYA_ELEMENT_UINT32, NAGAYA_REDUCE_SUM};
  EXPECT_EQ(put(*handles_[0], side, other), -EPROTO);
  EXPECT_EQ(get(*handles_[0], side, other), -EPROTO);
  EXPECT_EQ(accumulate(*handles_[0], &side, nullptr, other, add), -EPROTO);
  EXPECT_EQ(fetch_and_op(*handles_[0], 0, 0, {&own, &own}, add), -EPROTO);
  EXPECT_EQ(compare_and_swap(*handles_[0], 0, 0, {&own, &own, &own, NAGAYA_ELEMENT_UINT32}),
            -EPROTO);
  EXPECT_EQ(memory_, expected_);
}

}  // namespace
}  // namespace nagaya::window
