// SPDX-License-Identifier: BSD-3-Clause
#include "processes/rank_plan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <tuple>

namespace nagaya::processes {
namespace {

// Joins positions into runs. Each run takes as many positions as it can: so equal content has equal
// runs.
template <class Emit>
class RunMerger {
 public:
  explicit RunMerger(Emit emit) : emit_(emit) {}

  void add(int64_t position) {
    if (length_ == 1) run_.stride = static_cast<int32_t>(position - run_.position);
    if (length_ == 0 || position != run_.position_after(length_))
      begin(position);
    else
      ++length_;
  }
  void end() {
    if (length_ == 1) run_.stride = 1;
    if (length_ != 0) emit_(run_, length_);
  }

 private:
  void begin(int64_t position) {
    end();
    run_ = {run_.first + length_, static_cast<uint32_t>(position), 1};
    length_ = 1;
  }

  Emit emit_;
  Run run_{};
  uint32_t length_ = 0;
};

// Whether two interleaved runs have a position in common.
bool share_a_position(const Run& one, const Run& other) {
  const int64_t step = std::gcd(int64_t{one.stride}, int64_t{other.stride});
  if ((int64_t{one.position} - other.position) % step != 0) return false;
  const auto& [shorter, longer] =
      one.length() < other.length() ? std::tie(one, other) : std::tie(other, one);
  for (uint32_t steps = 0; steps < shorter.length(); ++steps)
    if (longer.ranks_to(static_cast<uint32_t>(shorter.position_after(steps))) >= 0) return true;
  return false;
}

uint32_t bits_for(uint64_t highest) {
  return static_cast<uint32_t>(std::bit_width(highest));
}

}  // namespace

RankPlan::RankPlan(const Listing& listing, uint32_t runs_max) : listing_(listing) {
  if (listing.size() == 0 || listing.size() >= 1ull << 31) error_ = -EINVAL;
  if (error_ == 0) read(std::min(runs_max, kRunsMax));
  if (error_ != 0) return;
  if (!packed_) sort_runs();
  if (packed_)
    plan_packing();
  else if (interleaved_ && a_position_comes_twice())
    error_ = -EINVAL;
}

void RankPlan::read(uint32_t runs_max) {
  ContentHash hash;
  RunMerger merger([&](const Run& run, uint32_t length) {
    hash.add(uint64_t{run.first} << 32 | run.position);
    hash.add(static_cast<uint32_t>(run.stride));
    note(run, length, runs_max);
  });
  for (uint64_t rank = 0; rank < listing_.size(); ++rank) {
    const int64_t position = listing_.position_of(rank);
    if (position < 0) {
      error_ = -EINVAL;
      return;
    }
    merger.add(position);
  }
  merger.end();
  hash.add(listing_.size());
  content_ = hash.value();
}

void RankPlan::note(const Run& run, uint32_t length, uint32_t runs_max) {
  if (run.stride == 0) error_ = -EINVAL;  // the same position again and again
  packed_ |= run_count_ == runs_max;
  if (!packed_) {
    runs_[run_count_] = run;
    runs_[run_count_ + 1].first = run.first + length;
  }
  ++run_count_;
  const int64_t last = run.position_after(length - 1);
  lowest_ = std::min({lowest_, int64_t{run.position}, last});
  highest_ = std::max({highest_, int64_t{run.position}, last});
  boundaries_ |= run.first | run.position | (run.stride != 1 ? 1 : 0);
}

void RankPlan::sort_runs() {
  std::iota(by_position_, by_position_ + run_count_, uint16_t{0});
  std::sort(by_position_, by_position_ + run_count_, [this](uint16_t one, uint16_t other) {
    return runs_[one].lowest() < runs_[other].lowest();
  });
  int64_t highest = -1;
  for (uint32_t n = 0; n < run_count_; ++n) {
    const Run& run = runs_[by_position_[n]];
    interleaved_ |= run.lowest() <= highest;
    highest = std::max(highest, run.highest());
  }
  packed_ = interleaved_ && run_count_ > kInterleavedMax;
}

bool RankPlan::a_position_comes_twice() const {
  for (uint32_t one = 0; one < run_count_; ++one)
    for (uint32_t other = 0; other < one; ++other)
      if (share_a_position(runs_[one], runs_[other])) return true;
  return false;
}

void RankPlan::plan_packing() {
  RankTable& table = packing_;
  table.size = static_cast<uint32_t>(listing_.size());
  table.shift = static_cast<uint8_t>(std::countr_zero(boundaries_ | 1u << 16));
  table.lowest = static_cast<uint32_t>(lowest_ >> table.shift);
  table.span = static_cast<uint32_t>(highest_ >> table.shift) - table.lowest + 1;
  const uint32_t blocks = table.blocks();
  table.hashed = table.span / kDenseMax >= blocks;
  table.slots = table.hashed != 0 ? blocks + blocks / 2 + 1 : table.span;
  table.position_bits = static_cast<uint8_t>(bits_for(table.span - 1));
  table.rank_bits = static_cast<uint8_t>(bits_for(blocks));
}

uint64_t RankPlan::bytes() const {
  if (!packed_)
    return sizeof(RankTable) + (run_count_ + 1) * sizeof(Run) +
           run_count_ * (sizeof(uint32_t) + sizeof(uint16_t));
  return sizeof(RankTable) + packed_bytes(packing_.position_bits, packing_.blocks()) +
         packed_bytes(packing_.rank_bits, packing_.slots);
}

bool RankPlan::matches(const RankTable& table) const {
  if (!table.head.matches(RankTable::kKind, sizeof(RankTable)) || table.head.content != content_ ||
      table.size != listing_.size() || table.run_count != (packed_ ? 0 : run_count_))
    return false;
  if (!packed_) return std::memcmp(table.runs(), runs_, run_count_ * sizeof(Run)) == 0;
  for (uint32_t rank = 0; rank < table.size; ++rank)
    if (table.position_of(rank) != listing_.position_of(rank)) return false;
  return true;
}

int RankPlan::write(RankTable& table) const {
  table = packing_;
  table.head = {.stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(RankTable), 0},
                .kind = RankTable::kKind,
                .slot = kNoSlot,
                .content = content_,
                .bytes = bytes()};
  if (packed_) return write_packed(table);
  table.size = static_cast<uint32_t>(listing_.size());
  table.run_count = run_count_;
  table.interleaved = interleaved_;
  auto* runs = reinterpret_cast<Run*>(&table + 1);
  std::copy(runs_, runs_ + run_count_ + 1, runs);
  auto* lowest_positions = reinterpret_cast<uint32_t*>(runs + run_count_ + 1);
  auto* runs_by_position = reinterpret_cast<uint16_t*>(lowest_positions + run_count_);
  for (uint32_t n = 0; n < run_count_; ++n) {
    lowest_positions[n] = static_cast<uint32_t>(runs_[by_position_[n]].lowest());
    runs_by_position[n] = by_position_[n];
  }
  return 0;
}

int RankPlan::write_packed(RankTable& table) const {
  auto* positions = const_cast<std::byte*>(table.position_blocks());
  auto* ranks = const_cast<std::byte*>(table.rank_blocks());
  std::memset(positions, 0, bytes() - sizeof(RankTable));
  for (uint32_t rank = 0; rank < table.size; rank += 1u << table.shift) {
    const uint32_t block = rank >> table.shift;
    const auto wanted =
        static_cast<uint32_t>(listing_.position_of(rank) >> table.shift) - table.lowest;
    packed_put(positions, table.position_bits, block, wanted);
    uint32_t slot = table.slot_of(wanted);
    while (const uint32_t entry = packed_get(ranks, table.rank_bits, slot)) {
      if (table.position_block(entry - 1) == wanted) return -EINVAL;  // a position comes twice
      slot = slot + 1 == table.slots ? 0 : slot + 1;
    }
    packed_put(ranks, table.rank_bits, slot, block + 1);
  }
  return 0;
}

}  // namespace nagaya::processes
