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

}  // namespace
}  // namespace nagaya::array
