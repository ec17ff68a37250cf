// SPDX-License-Identifier: BSD-3-Clause
// halo_test.cc - arrays of several processes where no message can be sent: outside of a space.
#include <errno.h>
#include <gtest/gtest.h>

#include "array/array.h"
#include "array/box_messages.h"
#include "array/channel.h"
#include "llcl/requests/processes.h"
#include "processes/node_tables.h"

namespace nagaya::array {
namespace {

// A set of two processes, the first of which is the caller.
nagaya_processes* two_processes() {
  static auto* const node = new processes::NodeTables;
  static nagaya_processes set{std::make_shared<const processes::ProcessSet>(
                                  node->store(), std::vector<nagaya_process>{{0, 0}, {1, 0}}, 0),
                              true};
  return &set;
}
constexpr uint32_t kExtent[] = {2};
constexpr nagaya_array_dimension kDimension = {
    8, 0, {0, 7, 4, 2, NAGAYA_DISTRIBUTION_BLOCK, nullptr}, 0, 1, 1};
constexpr nagaya_array_shape kShape = {sizeof(double), 1, &kDimension};
const nagaya_array_grid kGrid = {two_processes(), 1, kExtent};
constexpr nagaya_array_width kWidth[] = {{1, 1, 0}};

TEST(Reflect, AMessageThatCannotBeSentIsItsErrorAndEndsIt) {
  Array array(kShape, kGrid, 1, Transport::kMessages);
  ASSERT_EQ(array.start_reflect(kWidth, false), 0);
  EXPECT_TRUE(array.advance());
  EXPECT_FALSE(array.is_reflecting());
  EXPECT_EQ(array.take_result(), -ESRCH);
  EXPECT_EQ(array.take_result(), 1);
  EXPECT_TRUE(array.may_be_destroyed());
}

TEST(Reflect, AnErrorStays) {
  Array array(kShape, kGrid, 1, Transport::kMessages);
  ASSERT_EQ(array.start_reflect(kWidth, false), 0);
  ASSERT_TRUE(array.advance());
  EXPECT_EQ(array.start_reflect(kWidth, false), -ESRCH);
  EXPECT_EQ(array.error(), -ESRCH);
}

TEST(Reflect, ThatCannotOpenItsChannelsHasNotBegun) {
  Array array(kShape, kGrid, 1, Transport::kDirect);
  for (int n = 0; n < 2; ++n) EXPECT_EQ(array.start_reflect(kWidth, false), -ESRCH);
  EXPECT_FALSE(array.is_reflecting());
  EXPECT_TRUE(array.may_be_destroyed());
  EXPECT_EQ(array.error(), 0);
}

TEST(BoxMessage, OfAnotherLengthIsAnError) {
  nagaya_receive message{};
  message.capacity = message.bytes = 8;
  EXPECT_EQ(error_of(message), 0);
  message.bytes = 4;
  EXPECT_EQ(error_of(message), -EPROTO);
  message.error = -ECONNRESET;
  EXPECT_EQ(error_of(message), -ECONNRESET);
}

TEST(Handshake, ThatCouldNotBeStartedIsNotPending) {
  Handshake handshake;
  EXPECT_EQ(handshake.send({1, 0}, {}, {}), -ESRCH);
  EXPECT_EQ(handshake.receive({1, 0}, {}, 0), -ESRCH);
  EXPECT_TRUE(handshake.has_no_pending_messages());
}

TEST(ChannelEnd, NeedsPlacesOfItsProcessAndLandingsThatHoldTheBox) {
  const nagaya_process process = {2, 5};
  const ChannelEnd end{{process, 1, 0, 0}, {process, 1, 0, 64}, 128};
  EXPECT_TRUE(end.is_of(process, 128));
  EXPECT_FALSE(end.is_of(process, 129));
  EXPECT_FALSE(end.is_of({2, 6}, 128));
  EXPECT_FALSE(end.is_of({3, 5}, 128));
  ChannelEnd other = end;
  other.landing.process.task = 6;
  EXPECT_FALSE(other.is_of(process, 128));
  EXPECT_TRUE(other.is_of(process, 0));
}

}  // namespace
}  // namespace nagaya::array
