// SPDX-License-Identifier: BSD-3-Clause
// Accumulates and compare-and-swaps on memory of another node.
#include <list>
#include <numeric>
#include <random>

#include "delegatee/fleet.h"
#include "delegatee/variant.h"
#include "reduction/reductions.h"

namespace nagaya::delegatee {
namespace {

class Accumulates : public ::testing::Test {
 protected:
  static constexpr size_t kBytes = 1 << 17;

  explicit Accumulates(const Options& options = {})
      : remote(pattern(kBytes, 1)), fleet(2, options) {
    region = fleet[1].regions.add(3, remote.data(), remote.size());
  }
  int run(const Command& command) {
    Flag flag;
    fleet[0].push(0, flagged(command, flag));
    return flag.wait();
  }
  Place at(uint64_t offset) const { return {1, 3, region, offset}; }
  // A sum of int64_t elements. `runs` and `before` may be nullptr.
  Command sum(uint64_t offset, const std::vector<int64_t>& values,
              const nagaya_runs* runs = nullptr, int64_t* before = nullptr) const {
    return accumulate_of(at(offset), {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, values.size(),
                                      nullptr, runs, values.data(), before});
  }
  Command replace(uint64_t offset, const std::vector<int64_t>& values,
                  int64_t* before = nullptr) const {
    return accumulate_of(at(offset), {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_REPLACE, values.size(),
                                      nullptr, nullptr, values.data(), before});
  }
  int64_t word(uint64_t offset) const {
    int64_t value;
    std::memcpy(&value, &remote[offset], sizeof value);
    return value;
  }

  Bytes remote;
  Fleet fleet;  // after what it works on
  uint32_t region;
};

std::vector<int64_t> values_from(int64_t first, size_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(Accumulates, OfManyPortionsChangeEveryElementOnceAndTellItsValueFromBefore) {
  fleet.start();
  const auto old = values_from(1000, 10000), added = values_from(1, 10000);
  std::vector<int64_t> before(10000);
  std::memcpy(&remote[24], old.data(), 80000);
  ASSERT_EQ(run(sum(24, added, nullptr, before.data())), 0);
  EXPECT_EQ(before, old);
  for (size_t n = 0; n < 10000; ++n) ASSERT_EQ(word(24 + 8 * n), old[n] + added[n]) << n;
}

TEST_F(Accumulates, CompareAndSwapWordsOfEverySizeAtAnyAddress) {
  fleet.start();
  for (const size_t bytes : {1, 2, 4, 8})
    for (const bool differs : {false, true}) {
      Bytes expected_memory = remote;
      uint64_t old = 0, before = 0;
      std::memcpy(&old, &remote[3], bytes);
      const uint64_t desired = ~old, expected = differs ? old + 1 : old;
      if (!differs) std::memcpy(&expected_memory[3], &desired, bytes);
      ASSERT_EQ(run(compare_swap_of(at(3), bytes, expected, desired, &before)), 0);
      EXPECT_EQ(before, old);
      EXPECT_TRUE(remote == expected_memory) << bytes;
    }
}

TEST_F(Accumulates, OfRunsMayReachBelowTheirPlaceAndNameMoreThanTheyUse) {
  fleet.start();
  std::fill(remote.begin(), remote.end(), std::byte{});
  const nagaya_runs runs[] = {{reinterpret_cast<void*>(-16), 16, 2, 64},
                              {nullptr, SIZE_MAX / 8 * 8, SIZE_MAX, 8}};
  ASSERT_EQ(run(sum(1000, {1, 2, 3, 4, 5}, runs)), 0);
  const std::pair<size_t, int64_t> expected[] = {
      {984, 1}, {992, 2}, {1048, 3}, {1056, 4}, {1000, 5}};
  int64_t all = 0;
  for (const auto& [offset, value] : expected) EXPECT_EQ(word(offset), value) << offset;
  for (size_t offset = 0; offset < kBytes; offset += 8) all += word(offset);
  EXPECT_EQ(all, 15);
}

TEST_F(Accumulates, ThatLieNowhereAreAnErrorAndTouchNothing) {
  fleet.start();
  const Bytes untouched = remote;
  const std::vector<int64_t> values(4, 1);
  const auto expect_refused = [&](uint64_t offset, const nagaya_runs& run_of) {
    const nagaya_runs runs[] = {{nullptr, 8, 1, 8}, run_of};
    EXPECT_EQ(run(sum(offset, values, runs)), -EINVAL) << offset;
  };
  expect_refused(kBytes - 7, {nullptr, 8, 3, 8});
  expect_refused(UINT64_MAX - 3, {nullptr, 8, 3, 8});
  expect_refused(0, {nullptr, 8, 3, kBytes / 2});
  expect_refused(8, {nullptr, 8, 3, -8});
  expect_refused(8, {reinterpret_cast<void*>(-16), 24, 1, 24});
  expect_refused(0, {nullptr, 8, 3, PTRDIFF_MAX});
  expect_refused(0, {nullptr, 8, 3, PTRDIFF_MIN});
  expect_refused(0, {nullptr, 12, 3, 12});  // no whole elements
  expect_refused(0, {nullptr, 0, 3, 8});
  expect_refused(0, {nullptr, 8, 0, 8});
  EXPECT_EQ(run(sum(kBytes - 24, values)), -EINVAL);
  uint64_t before = 77;
  EXPECT_EQ(run(compare_swap_of(at(kBytes - 7), 8, 0, 1, &before)), -EINVAL);
  EXPECT_EQ(before, 77u);
  EXPECT_TRUE(remote == untouched);
}

TEST_F(Accumulates, OfAnUnknownOrEndedRegionAreAnError) {
  fleet.start();
  const uint32_t known = region;
  region = fleet[1].regions.add(3, remote.data(), remote.size());
  fleet[1].regions.end(3, region);
  for (const uint32_t number : {region, 9999u}) {
    region = number;
    std::vector<int64_t> many(10000, 1), before(10000, 77);
    EXPECT_EQ(run(sum(0, many, nullptr, before.data())), -EINVAL);
    EXPECT_EQ(before, std::vector<int64_t>(10000, 77));
    EXPECT_EQ(run(compare_swap_of(at(0), 8, 0, 1, before.data())), -EINVAL);
  }
  region = known;
  EXPECT_EQ(run(sum(0, {1})), 0);
}

TEST_F(Accumulates, ThatAreNotDefinedEndAtTheRequester) {
  fleet.start();
  Command command = sum(0, {1});
  command.data.elements.type = 25;
  EXPECT_EQ(run(command), -EINVAL);
  command = sum(0, {1});
  command.data.elements.operation = NAGAYA_REDUCE_MAXLOC;
  EXPECT_EQ(run(command), -EINVAL);
  command = sum(0, {1});
  command.data.elements.origin = 0;
  EXPECT_EQ(run(command), -EINVAL);
  for (const size_t bytes : {0, 3, 16})
    EXPECT_EQ(run(compare_swap_of(at(0), bytes, 0, 1, nullptr)), -EINVAL);
  EXPECT_EQ(fleet[0].delegatee.batches(), 0u);
}

TEST_F(Accumulates, OfNothingAreCompleteAtOnce) {
  fleet.start();
  EXPECT_EQ(run(sum(UINT64_MAX, {})), 0);
  EXPECT_EQ(fleet[0].delegatee.batches(), 0u);
}

TEST_F(Accumulates, OfAbsurdSizesEndInTheErrorOfTheTarget) {
  fleet.start();
  const nagaya_runs same{nullptr, SIZE_MAX / 32 * 32, SIZE_MAX, 0};
  for (const nagaya_runs* const runs : {static_cast<const nagaya_runs*>(nullptr), &same})
    EXPECT_EQ(
        run(accumulate_of(at(0), {NAGAYA_ELEMENT_LONG_DOUBLE_INT, NAGAYA_REDUCE_NO_OP,
                                  Command::Elements::kCountMax, nullptr, runs, nullptr, nullptr})),
        -EINVAL);
}

TEST_F(Accumulates, WhoseRunsTheTaskChangesMeanwhileAreItsErrorAndNotTheNodes) {
  const std::vector<int64_t> many(kBytes / 8, 0);
  nagaya_runs runs{nullptr, kBytes, 1, 0};
  Flag flag;
  fleet[0].push(0, flagged(sum(0, many, &runs), flag));
  fleet.network.pause_link(1, 0);
  for (int n = 0; n < 3; ++n) fleet.round();
  runs.bytes = 8;  // not as far as the portions that were sent
  fleet.network.resume_link(1, 0);
  fleet.start();
  EXPECT_LE(flag.wait(), 0);
  EXPECT_EQ(run(sum(0, {1})), 0);
}

TEST_F(Accumulates, OfAnEndedTaskLeaveNoTrace) {
  fleet.network.pause_link(1, 0);
  std::vector<int64_t> added(10, 1), before(10, 77);
  uint64_t word_before = 77;
  fleet[0].push(3, sum(0, added, nullptr, before.data()));
  fleet[0].push(3, compare_swap_of(at(0), 8, 0, 1, &word_before));
  for (int n = 0; n < 4; ++n) fleet.round();
  fleet[0].delegatee.abandon(3);
  fleet[0].delegatee.round();
  EXPECT_TRUE(fleet[0].delivery.has_released(3));
  fleet.network.resume_link(1, 0);
  for (int n = 0; n < 8; ++n) fleet.round();
  EXPECT_EQ(before, std::vector<int64_t>(10, 77));
  EXPECT_EQ(word_before, 77u);
  fleet.start();
  EXPECT_EQ(run(sum(0, {1})), 0);
}

TEST_F(Accumulates, WaitForATaskThatChangesElementsThereAndGoOnWhenTheHostHasReapedIt) {
  llcl::Board& board = fleet[1].regions.board();
  const auto dead = mailbox::Owner::task(0, 1);
  board.stripes->holder_for(remote.data()).store(dead.bits);
  fleet.start();
  Flag flag;
  const std::vector<int64_t> one{1};
  fleet[0].push(0, flagged(sum(0, one), flag));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(flag.now(), 0);
  board.stripes->free_all_of(dead);
  EXPECT_EQ(flag.wait(), 0);
}

// ---- order, and others' turns ------------------------------------------------------------------

class AccumulatesOfLittleCredit : public Accumulates {
 protected:
  AccumulatesOfLittleCredit() : Accumulates({.batch_bytes = 1024, .credit_commands = 2}) {}
};

TEST_F(AccumulatesOfLittleCredit, TakeEffectInTheOrderOfTheCallsOfAThread) {
  constexpr size_t kMany = 2000;
  const std::vector<int64_t> first(kMany, 1), third(kMany, 3);
  int64_t before[2] = {};
  uint64_t swapped = 0, done = 0;
  const auto push = [&](const Command& command) { fleet[0].push(0, counted(command, done)); };
  push(replace(0, first));
  push(replace(8 * kMany - 8, {2}, &before[0]));
  push(replace(0, third));
  push(compare_swap_of(at(8 * kMany - 8), 8, 3, 4, &swapped));
  push(accumulate_of(at(8 * kMany - 8), {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_NO_OP, 1, nullptr,
                                         nullptr, nullptr, &before[1]}));
  fleet.start();
  ASSERT_TRUE(soon([&] { return counts(done).first == 5; }));
  EXPECT_EQ(before[0], 1);
  EXPECT_EQ(swapped, 3u);
  EXPECT_EQ(before[1], 4);
  EXPECT_EQ(word(8 * kMany - 8), 4);
}

TEST_F(AccumulatesOfLittleCredit, LetOtherCommandsHaveTheirTurn) {
  const std::vector<int64_t> many(2000, 1);
  std::byte local[8];
  Flag long_one, other;
  fleet[0].push(0, flagged(sum(0, many), long_one));
  fleet[0].push(1, flagged(transfer(Op::kGet, at(0), local, 8), other));
  for (int n = 0; n < 20 && other.now() == 0; ++n) fleet.round();
  EXPECT_EQ(other.now(), 1);
  EXPECT_EQ(long_one.now(), 0);
}

TEST_F(AccumulatesOfLittleCredit, CountForAFence) {
  const std::vector<int64_t> many(2000, 1);
  Flag changed, fenced;
  fleet[0].push(0, flagged(sum(0, many), changed));
  fleet[0].push(0, flagged(command_to(at(0), Op::kFence), fenced));
  fleet.start();
  EXPECT_EQ(fenced.wait(), 0);
  EXPECT_EQ(changed.now(), 1);
}

// The target has no room for its answers: it has changed the elements, and keeps their values from
// before.
TEST_F(Accumulates, TellTheValuesOfTheirTurnWhenTheAnswersMustWait) {
  constexpr size_t kMany = 3000, kReads = 60;
  std::fill(remote.begin(), remote.end(), std::byte{});
  const std::vector<int64_t> ones(kMany, 1);
  std::vector<std::vector<int64_t>> seen(kReads, std::vector<int64_t>(kMany));
  uint64_t done = 0;
  fleet.network.pause_link(1, 0);
  for (auto& values : seen) {
    fleet[0].push(0, counted(accumulate_of(at(0), {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_NO_OP, kMany,
                                                   nullptr, nullptr, nullptr, values.data()}),
                             done));
    fleet[0].push(0, counted(sum(0, ones), done));
    for (int n = 0; n < 4; ++n) fleet.round();
  }
  fleet.network.resume_link(1, 0);
  fleet.start();
  ASSERT_TRUE(soon([&] { return counts(done).first == 2 * kReads; }));
  EXPECT_FALSE(counts(done).second);
  for (size_t n = 0; n < kReads; ++n)
    ASSERT_EQ(seen[n], std::vector<int64_t>(kMany, static_cast<int64_t>(n))) << n;
}

// ---- random accumulates against those of one node ----------------------------------------------

class RandomAccumulate {
 public:
  static constexpr size_t kMemory = 1 << 16;

  explicit RandomAccumulate(std::mt19937& random) : random_(random) {
    do {
      type_ = static_cast<nagaya_element_type>(draw(reduction::kElementTypes));
      operation_ = static_cast<nagaya_reduction>(draw(reduction::kReductions));
    } while (!reduction::is_defined(type_, operation_));
    extent_ = reduction::elements_of(type_).extent;
    draw_runs();
    for (Bytes* const bytes : {&origin_, &result_, &result_there_}) bytes->resize(count_ * extent_);
    fill_with_numbers(origin_, random);
  }

  // Bytes that are numbers of every type, and no NaN.
  static void fill_with_numbers(Bytes& bytes, std::mt19937& random) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 64);
  }
  nagaya_llcl_accumulation on(std::byte* target, Bytes& result) {
    return {type_,
            operation_,
            count_,
            target,
            has_runs_ ? runs_.data() : nullptr,
            operation_ == NAGAYA_REDUCE_NO_OP ? nullptr : origin_.data(),
            has_result_ ? result.data() : nullptr};
  }
  void run_here(llcl::Board& board, Bytes& memory) {
    ASSERT_EQ(llcl::accumulate(board, mailbox::Owner::host(), on(memory.data() + offset_, result_)),
              0);
  }
  Command command(const Place& region) {
    return accumulate_of({region.node, region.task, region.region, region.offset + offset_},
                         on(nullptr, result_there_));
  }
  bool has_same_result() const { return result_ == result_there_; }

 private:
  static constexpr size_t kSlice = kMemory / 4;

  size_t draw(size_t end) { return random_() % end; }
  void draw_runs() {
    has_runs_ = draw(3) != 0;
    has_result_ = draw(2) == 0;
    if (!has_runs_) {
      offset_ = draw(100);
      count_ = 1 + draw(draw(2) == 0 ? 8 : (kMemory - offset_) / extent_);
      return;
    }
    offset_ = draw(kMemory);
    for (size_t slice = 0; slice < 4; ++slice) add_runs(slice * kSlice);
    std::shuffle(runs_.begin(), runs_.end(), random_);
    for (const nagaya_runs& run : runs_) count_ += run.bytes / extent_ * run.count;
    count_ -= draw(std::min<size_t>(count_, 2 * runs_.back().bytes / extent_));
  }
  void add_runs(size_t first) {
    const size_t bytes = extent_ * (1 + draw(draw(3) == 0 ? kSlice / extent_ : 5));
    const size_t step = bytes + draw(draw(2) == 0 ? 3 : 500), most = kSlice / step;
    if (most == 0) return add_runs(first);
    const size_t count = 1 + draw(most);
    const bool is_backward = draw(2) == 0;
    if (is_backward) first += (count - 1) * step;
    const auto stride = static_cast<ptrdiff_t>(step);
    runs_.push_back(
        {reinterpret_cast<void*>(first - offset_), bytes, count, is_backward ? -stride : stride});
  }

  std::mt19937& random_;
  nagaya_element_type type_;
  nagaya_reduction operation_;
  size_t extent_, offset_, count_ = 0;
  bool has_runs_, has_result_;
  std::vector<nagaya_runs> runs_;
  Bytes origin_, result_, result_there_;
};

class RandomAccumulatesOver : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Forty, RandomAccumulatesOver, ::testing::Range(0u, 40u));

TEST_P(RandomAccumulatesOver, AnUnkindNetworkDoWhatTheyDoWithinTheNode) {
  std::mt19937 random(GetParam());
  const auto draw = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  Bytes here(RandomAccumulate::kMemory);
  RandomAccumulate::fill_with_numbers(here, random);
  Bytes there = here;
  std::list<RandomAccumulate> all;
  uint64_t done = 0;
  const Options options = drawn_options(draw);
  Fleet fleet(2, options, drawn_faults(GetParam() + 1, draw));
  const uint32_t region = fleet[1].regions.add(0, there.data(), there.size());
  fleet.start();
  for (int n = 0; n < 12; ++n) {
    all.emplace_back(random).run_here(fleet[0].regions.board(), here);
    fleet[0].push(0, counted(all.back().command({1, 0, region}), done));
  }
  ASSERT_TRUE(soon([&] { return counts(done).first == all.size(); }, 60));
  EXPECT_FALSE(counts(done).second);
  EXPECT_TRUE(here == there);
  for (const RandomAccumulate& one : all) EXPECT_TRUE(one.has_same_result());
}

// ---- over both fabrics -------------------------------------------------------------------------

class AccumulatesOver : public ::testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Over, AccumulatesOver, ::testing::ValuesIn(kVariants), name_of);

TEST_P(AccumulatesOver, AnyNetworkOfManyNodesAtOnceMissNoElement) {
  constexpr uint32_t kNodes = 3, kTimes = 200;
  constexpr size_t kMany = 700;
  Bytes memory(8 * kMany);
  Fleet fleet(GetParam().backend.open(kNodes), {.notification = GetParam().notification});
  const uint32_t region = fleet[0].regions.add(0, memory.data(), memory.size());
  fleet.start();
  const std::vector<double> ones(kMany, 1);
  uint64_t done[kNodes] = {};
  for (uint32_t n = 0; n < kTimes; ++n)
    for (uint32_t node = 1; node < kNodes; ++node)
      fleet[node].push(
          n % 4,
          counted(accumulate_of({0, 0, region}, {NAGAYA_ELEMENT_DOUBLE, NAGAYA_REDUCE_SUM, kMany,
                                                 nullptr, nullptr, ones.data(), nullptr}),
                  done[node]));
  for (uint32_t node = 1; node < kNodes; ++node)
    ASSERT_TRUE(soon([&] { return counts(done[node]).first == kTimes; }));
  for (size_t n = 0; n < kMany; ++n) {
    double sum;
    std::memcpy(&sum, &memory[8 * n], sizeof sum);
    ASSERT_EQ(sum, (kNodes - 1) * kTimes) << n;
  }
}

// ---- operands that the target reads ------------------------------------------------------------

constexpr size_t kLong = 100'001;  // elements of several portions

// Node 0 has memory that the tasks of the other nodes add to.
class LongAccumulates : public ::testing::Test {
 protected:
  static constexpr size_t kWords = kLong + 3;

  explicit LongAccumulates(unsigned nodes = 2, const fabric::FaultPlan& plan = {})
      : fleet(nodes, {}, plan) {
    region = fleet[0].regions.add(3, reinterpret_cast<std::byte*>(words.data()), kWords * 8);
  }
  Command accumulate(nagaya_reduction operation, const std::vector<int64_t>& operands,
                     uint64_t offset = 8, int64_t* before = nullptr) const {
    return accumulate_of({0, 3, region, offset}, {NAGAYA_ELEMENT_INT64, operation, operands.size(),
                                                  nullptr, nullptr, operands.data(), before});
  }
  // The sum of all words once the accumulates have ended.
  int64_t sum() const { return std::accumulate(words.begin(), words.end(), int64_t{0}); }

  std::vector<int64_t> words = std::vector<int64_t>(kWords);
  Fleet fleet;
  uint32_t region;
};

TEST_F(LongAccumulates, ChangeEveryElementOnceAndLeaveNothingRegistered) {
  fleet.start();
  const auto added = values_from(1, kLong);
  Flag flag;
  fleet[1].push(0, flagged(accumulate(NAGAYA_REDUCE_SUM, added), flag));
  ASSERT_EQ(flag.wait(), 0);
  for (size_t n = 0; n < kLong; ++n) ASSERT_EQ(words[n + 1], added[n]) << n;
  EXPECT_EQ(words[0] + words[kLong + 1] + words[kLong + 2], 0);
  EXPECT_EQ(fleet.network.registered(1), 0u);
  EXPECT_LT(fleet[1].delegatee.batches(), 5u);  // the operands are in none
}

TEST_F(LongAccumulates, ThatLeaveTheRegionAreAnError) {
  fleet.start();
  const std::vector<int64_t> many(kLong, 1);
  for (const uint64_t offset : {uint64_t{32}, kWords * 8, UINT64_MAX - 7, UINT64_MAX - 8 * kLong}) {
    Flag flag;
    fleet[1].push(0, flagged(accumulate(NAGAYA_REDUCE_SUM, many, offset), flag));
    EXPECT_EQ(flag.wait(), -EINVAL) << offset;
  }
  EXPECT_EQ(words[kLong + 2], 0);
  fleet[0].regions.end(3, region);
  Flag flag;
  fleet[1].push(0, flagged(accumulate(NAGAYA_REDUCE_SUM, many), flag));
  EXPECT_EQ(flag.wait(), -EINVAL);
  EXPECT_EQ(fleet.network.registered(1), 0u);
}

TEST_F(LongAccumulates, OfAnEndedTaskKeepItsMemoryUntilTheTargetHasReadIt) {
  const std::vector<int64_t> many(kLong, 1);
  fleet[1].push(3, accumulate(NAGAYA_REDUCE_SUM, many));
  fleet[1].delegatee.round();  // the portions leave
  fleet.network.pause_link(1, 0);
  for (int n = 0; n < 4; ++n) fleet.round();
  fleet[1].delegatee.abandon(3);
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_FALSE(fleet[1].delivery.has_released(3));
  fleet.network.resume_link(1, 0);
  ASSERT_TRUE(soon([&] {
    fleet.round();
    return fleet[1].delivery.has_released(3);
  }));
  EXPECT_EQ(fleet.network.registered(1), 0u);
}

TEST_F(LongAccumulates, OfManyThreadsAndAnAtomicBehindEachTakeEffectInTheirOrder) {
  fleet.start();
  const std::vector<int64_t> added(kLong, 1);
  for (int round = 0; round < 20; ++round) {
    uint64_t done = 0, before[3] = {};
    int64_t short_before = 0;
    const std::vector<int64_t> one{1};
    const auto push = [&](uint32_t lane, Command command) {
      fleet[1].push(lane, counted(command, done));
    };
    push(0, accumulate(NAGAYA_REDUCE_SUM, added));
    push(0, accumulate(NAGAYA_REDUCE_SUM, one, 8 * kLong, &short_before));
    push(1, accumulate(NAGAYA_REDUCE_SUM, one, 8 * kLong));
    for (const uint32_t lane : {0, 1}) {
      Command atomic_behind = atomic(llcl::Atomic::kAdd, llcl::Type::kInt64,
                                     {0, 3, region, 8 * kLong}, &before[lane], 0);
      atomic_behind.op = Op::kAtomicBehind;
      push(lane, atomic_behind);
    }
    ASSERT_TRUE(soon([&] { return counts(done).first == 5; }));
    EXPECT_GE(short_before, 3 * round + 1);
    EXPECT_GE(before[0], uint64_t(3 * round + 2));
    EXPECT_GE(before[1], uint64_t(3 * round + 1));
    EXPECT_EQ(words[kLong], 3 * (round + 1));
  }
}

// Replies of other commands may pass those of accumulates that wait for a long one.
TEST_F(LongAccumulates, AreNotWaitedForByPiecesOfOtherCommands) {
  const std::vector<int64_t> many(kLong, 1), one{1};
  int64_t got = 77;
  const llcl::Piece piece{reinterpret_cast<uint64_t>(&got), 0, 8, 1, 8, 8};
  Flag long_one, short_one, pieces;
  fleet[1].push(0, flagged(accumulate(NAGAYA_REDUCE_SUM, many), long_one));
  fleet[1].push(1, flagged(accumulate(NAGAYA_REDUCE_SUM, one), short_one));
  fleet[1].push(2, flagged(of_pieces(Op::kGetPieces, {0, 3, region, 0}, {&piece, 1}), pieces));
  fleet.start();
  EXPECT_EQ(pieces.wait(), 0);
  EXPECT_EQ(long_one.wait(), 0);
  EXPECT_EQ(short_one.wait(), 0);
  EXPECT_EQ(got, 0);
  EXPECT_EQ(words[1], 2);
}

class LongAccumulatesOfManyNodes : public LongAccumulates {
 protected:
  static constexpr unsigned kNodes = 5;

  LongAccumulatesOfManyNodes()
      : LongAccumulates(kNodes, {.seed = 7, .refuse_percent = 20, .delay_polls_max = 6}) {}
};

TEST_F(LongAccumulatesOfManyNodes, ShareTheBuffersOfTheirTarget) {
  fleet.start();
  const std::vector<int64_t> many(kLong, 1);
  uint64_t done = 0;
  for (unsigned node = 1; node < kNodes; ++node)
    for (const uint32_t lane : {0, 1})
      fleet[node].push(lane, counted(accumulate(NAGAYA_REDUCE_SUM, many), done));
  ASSERT_TRUE(soon([&] { return counts(done).first == 2 * (kNodes - 1); }));
  EXPECT_EQ(sum(), 2 * (kNodes - 1) * kLong);
}

class LongAccumulatesOfAFailedNode : public ::testing::Test {
 protected:
  Fleet fleet{3, {.probe_after_ms = 50, .fail_after_ms = 200}};
};

// Its reads end with it: others have the buffers then.
TEST_F(LongAccumulatesOfAFailedNode, AreForgottenByTheirTarget) {
  std::vector<int64_t> words(kLong);
  const std::vector<int64_t> many(kLong, 1);
  const uint32_t region =
      fleet[0].regions.add(3, reinterpret_cast<std::byte*>(words.data()), kLong * 8);
  const Command add = accumulate_of(
      {0, 3, region, 0},
      {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, kLong, nullptr, nullptr, many.data(), nullptr});
  Flag lost;
  fleet[1].push(0, flagged(add, lost));
  fleet[1].delegatee.round();
  fleet[0].delegatee.round();  // reads begin
  fleet.network.pause_link(0, 1);
  fleet.start();
  EXPECT_LT(lost.wait(), 0);
  EXPECT_TRUE(soon([&] { return !fleet[0].delivery.lost_nodes().empty(); }))
      << "nobody watches a node whose operands are read";
  for (int n = 0; n < 4; ++n) {
    Flag flag;
    fleet[2].push(0, flagged(add, flag));
    EXPECT_EQ(flag.wait(), 0);
  }
  EXPECT_EQ(fleet.network.registered(1), 0u);
}

}  // namespace
}  // namespace nagaya::delegatee
