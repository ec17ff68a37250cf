// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/options.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "delegatee/question.h"

namespace nagaya::delegatee {
namespace {

Options chosen(const std::string& variable) {
  Options options;
  choose(options, variable);
  return options;
}

TEST(Options, AreChosenByVariables) {
  EXPECT_EQ(chosen("NAGAYA_NOTIFICATION=polling").notification, Notification::kPolling);
  EXPECT_EQ(chosen("NAGAYA_NOTIFICATION=kernel").notification, Notification::kKernel);
  EXPECT_EQ(chosen("NAGAYA_NOTIFICATION=automatic").notification, Notification::kAutomatic);
  EXPECT_EQ(chosen("NAGAYA_AGGREGATION=off").batch_records, 1u);
  EXPECT_EQ(chosen("NAGAYA_AGGREGATION=on").batch_records, Options{}.batch_records);
  EXPECT_EQ(chosen("NAGAYA_DELEGATEES=4").delegatees, 4u);
  EXPECT_EQ(chosen("NAGAYA_DELEGATEES=automatic").delegatees, Options{}.delegatees);
  EXPECT_EQ(chosen("NAGAYA_QUEUE=ring").queue, Queue::kRing);
  EXPECT_EQ(chosen("NAGAYA_QUEUE=lanes").queue, Queue::kLanes);
}

TEST(Options, DelegateesTakeTheDevicesInTurns) {
  const Options two = chosen("NAGAYA_NETWORK_DEVICES=eth0,ib1");
  EXPECT_EQ(two.devices, (std::vector<std::string>{"eth0", "ib1"}));
  EXPECT_EQ(delegatees_for(two), 2u);
  EXPECT_EQ(device_of(two, 0), "eth0");
  EXPECT_EQ(device_of(two, 1), "ib1");
  EXPECT_EQ(device_of(two, 2), "eth0");
  EXPECT_EQ(delegatees_for(chosen("NAGAYA_NETWORK_DEVICES=a,b,c")), 4u);
  EXPECT_EQ(delegatees_for(Options{}), 1u);
  EXPECT_EQ(device_of(Options{}, 1), "");
}

TEST(Options, AFailureIsFoundWithinTheChosenTimeTheProbeIncluded) {
  const Options soon = chosen("NAGAYA_FAIL_AFTER_MS=300");
  EXPECT_EQ(soon.fail_after_ms, 300u);
  EXPECT_EQ(soon.probe_after_ms, 150u);
  const Options late = chosen("NAGAYA_FAIL_AFTER_MS=60000");
  EXPECT_EQ(late.fail_after_ms, 60000u);
  EXPECT_EQ(late.probe_after_ms, Options{}.probe_after_ms);
}

TEST(Options, AWrongValueIsAnErrorThatNamesTheRightOnes) {
  for (const char* variable :
       {"NAGAYA_NOTIFICATION=", "NAGAYA_NOTIFICATION=poll",
        "NAGAYA_NETWORK_DEVICES=", "NAGAYA_NETWORK_DEVICES=eth0,", "NAGAYA_NETWORK_DEVICES=,eth0",
        "NAGAYA_NETWORK_DEVICES=1,2,3,4,5,6,7,8,9", "NAGAYA_AGGREGATION=1", "NAGAYA_QUEUE=lane",
        "NAGAYA_DELEGATEES=3", "NAGAYA_FAIL_AFTER_MS=", "NAGAYA_FAIL_AFTER_MS=9",
        "NAGAYA_FAIL_AFTER_MS=1e3", "NAGAYA_FAIL_AFTER_MS=-1", "NAGAYA_FAIL_AFTER_MS=100 ",
        "NAGAYA_FAIL_AFTER_MS=4294967396"}) {
    Options options;
    try {
      choose(options, variable);
      ADD_FAILURE() << variable << " is accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), -EINVAL);
      EXPECT_TRUE(std::string(error.what()).starts_with(std::string(variable) + ": can be "));
    }
  }
}

TEST(Options, OnlyTheirVariablesAndTheFabricsPassToTheHost) {
  EXPECT_TRUE(passes("NAGAYA_QUEUE=ring"));
  EXPECT_TRUE(passes("FI_PROVIDER=tcp"));
  EXPECT_FALSE(passes("FI_PROVIDER"));
  EXPECT_FALSE(passes("NAGAYA_QUEUE"));
  EXPECT_FALSE(passes("NAGAYA_QUEUES=ring"));
  EXPECT_FALSE(passes("NAGAYA_STOP_AT=host.cloned"));
  EXPECT_FALSE(passes("PATH=/bin"));
}

}  // namespace
}  // namespace nagaya::delegatee
