// SPDX-License-Identifier: BSD-3-Clause
#include "array/transfer_plan.h"

#include <gtest/gtest.h>

#include "array/sets.h"
#include "llcl/requests/processes.h"

namespace nagaya::array {
namespace {

constexpr int64_t kExtent = 37;
constexpr uint32_t kMembers = 4;  // two on each of two nodes

const nagaya_processes& all() {
  static const nagaya_processes all{set_of({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 0), true};
  return all;
}

// An array of one dimension, distributed onto all members.
class Line {
 public:
  explicit Line(const nagaya_distribution& of) : dimension_{kExtent, 0, of, 0, 0, 0} {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Side side(const Triplet& section) const {
    return {{&shape_, &grid_, nullptr, &section}, *all().set};
  }

 private:
  const uint32_t members_ = kMembers;
  const nagaya_array_dimension dimension_;
  const nagaya_array_shape shape_{sizeof(int32_t), 1, &dimension_};
  const nagaya_array_grid grid_{&all(), 1, &members_};
};

TEST(TransferPlan, AVariableIsStoredByAMemberOfTheReadersNodeIfOneActsThere) {
  const Line line({0, kExtent - 1, 10, kMembers, NAGAYA_DISTRIBUTION_BLOCK, nullptr});
  const nagaya_array_dimension whole{kExtent, -1, {}, 0, 0, 0};
  const nagaya_array_shape shape{sizeof(int32_t), 1, &whole};
  const Triplet section{0, kExtent, 1};
  const Side to = line.side(section), from({&shape, nullptr, nullptr, &section}, *all().set);
  const auto source_of = [&](uint32_t reader, const std::vector<uint8_t>& acts) {
    return TransferPlan(to, from, *all().set, acts).boxes_of(reader).at(0).source;
  };
  EXPECT_EQ(source_of(1, {1, 0, 1, 1}), 0u);
  EXPECT_EQ(source_of(2, {1, 0, 0, 1}), 3u);
  EXPECT_EQ(source_of(2, {1, 1, 1, 1}), 2u);
  EXPECT_EQ(source_of(3, {0, 1, 0, 0}), 1u);
}

TEST(TransferPlan, CanStoreWhatActingMembersHave) {
  const Line line({0, kExtent - 1, 10, kMembers, NAGAYA_DISTRIBUTION_BLOCK, nullptr});
  const nagaya_array_dimension whole{kExtent, -1, {}, 0, 0, 0};
  const nagaya_array_shape shape{sizeof(int32_t), 1, &whole};
  const Triplet section{3, 1, 0};
  const Side array = line.side(section), variable({&shape, nullptr, nullptr, &section}, *all().set);
  const std::vector<uint8_t> none{0, 0, 0, 0}, one{0, 0, 1, 0}, every{1, 1, 1, 1};
  EXPECT_FALSE(TransferPlan::can_store(variable, none));
  EXPECT_TRUE(TransferPlan::can_store(variable, one));
  EXPECT_FALSE(TransferPlan::can_store(array, one));
  EXPECT_TRUE(TransferPlan::can_store(array, every));
}

// The blocks of all members, as the boxes of their plans move them.
class Blocks {
 public:
  explicit Blocks(const Shape& shape) : shape_(shape) {
    for (uint32_t rank = 0; rank < kMembers; ++rank)
      memory_.emplace_back(shape.layout_of_rank(rank).bytes / sizeof(int32_t), -1);
  }
  int32_t& at(int64_t index) {
    const uint32_t rank = shape_.coordinate_of(0, index);
    const ptrdiff_t offset =
        shape_.layout_of_rank(rank).offset_of({shape_.position_of(0, index)}, 1);
    return memory_[rank].at(static_cast<size_t>(offset) / sizeof(int32_t));
  }
  std::byte* base(uint32_t rank) { return reinterpret_cast<std::byte*>(memory_[rank].data()); }

 private:
  const Shape& shape_;
  std::vector<std::vector<int32_t>> memory_;
};

void expect_assigned(const Line& to_line, const Triplet& to_section, const Line& from_line,
                     const Triplet& from_section) {
  const Side to = to_line.side(to_section), from = from_line.side(from_section);
  Blocks target(to.shape()), source(from.shape());
  for (int64_t i = 0; i < kExtent; ++i) source.at(i) = static_cast<int32_t>(i);
  const TransferPlan plan(to, from, *all().set);
  std::vector<int32_t> wanted(kExtent, -1);
  for (int64_t n = 0; n < to_section.count; ++n)
    wanted[static_cast<size_t>(to_section.first + n * to_section.step)] =
        static_cast<int32_t>(from_section.first + n * from_section.step);
  for (uint32_t reader = 0; reader < kMembers; ++reader) {
    std::vector<std::vector<std::pair<ptrdiff_t, ptrdiff_t>>> read(kMembers);
    for (const TransferBox& box : plan.boxes_of(reader)) {
      box.box.copy(target.base(reader) + box.to, source.base(box.source) + box.from);
      read[box.source].push_back({box.to, box.from});
    }
    for (uint32_t owner = 0; owner < kMembers; ++owner) {
      std::vector<std::pair<ptrdiff_t, ptrdiff_t>> sent;
      for (const TransferBox& box : plan.boxes_of(reader, owner))
        sent.push_back({box.to, box.from});
      EXPECT_EQ(sent, read[owner]) << "from " << owner << " to " << reader;
    }
  }
  for (int64_t i = 0; i < kExtent; ++i)
    EXPECT_EQ(target.at(i), wanted[static_cast<size_t>(i)]) << "index " << i;
}

TEST(TransferPlan, MovesASectionBetweenAnyDistributionsAndReaderAndSourceAgree) {
  const std::vector<int64_t> begin{0, 5, 5, 30, kExtent};
  const nagaya_distribution distributions[] = {
      {0, kExtent - 1, 10, kMembers, NAGAYA_DISTRIBUTION_BLOCK, nullptr},
      {0, kExtent - 1, 0, kMembers, NAGAYA_DISTRIBUTION_GENERAL, begin.data()},
      {0, kExtent - 1, 1, kMembers, NAGAYA_DISTRIBUTION_CYCLIC, nullptr},
      {0, kExtent - 1, 2, kMembers, NAGAYA_DISTRIBUTION_CYCLIC, nullptr},
      {0, kExtent - 1, 5, kMembers, NAGAYA_DISTRIBUTION_CYCLIC, nullptr}};
  const Triplet sections[] = {{2, 9, 1}, {35, 9, -4}, {1, 9, 3}, {20, 9, -2}};
  const Triplet whole{0, kExtent, 1}, reversed{kExtent - 1, kExtent, -1};
  for (const nagaya_distribution& of_target : distributions)
    for (const nagaya_distribution& of_source : distributions) {
      const Line to(of_target), from(of_source);
      for (const Triplet& target : sections)
        for (const Triplet& source : sections) expect_assigned(to, target, from, source);
      expect_assigned(to, whole, from, reversed);
      expect_assigned(to, reversed, from, whole);
    }
}

}  // namespace
}  // namespace nagaya::array
