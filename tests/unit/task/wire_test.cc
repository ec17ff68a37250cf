// SPDX-License-Identifier: BSD-3-Clause
// The payloads of the join protocol. channel_test.cc has the frames and descriptors.
#include "task/host/wire.h"

#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "task/error_code.h"

namespace nagaya::task {
namespace {

Launch example() {
  Launch launch{};
  launch.text = {"/bin/prog", "prog", {"-a", "", "b c"}, {"HOME=/root", "EMPTY="}, "started"};
  launch.inherit.umask = 027;
  launch.inherit.nice = -3;
  launch.inherit.cpu_mask_bytes = 16;
  launch.inherit.limits[3] = {100, 200};
  launch.wanted_number = 5;
  launch.stands_for = 4;
  launch.rank_descriptor = 9;
  launch.descriptor_numbers = {0, 1, 2, 9};
  return launch;
}

TEST(Launch, ArrivesAsItWasSent) {
  const Launch sent = example();
  const Launch got = decode_launch(encode(sent));
  EXPECT_EQ(got.text.program, sent.text.program);
  EXPECT_EQ(got.text.name, sent.text.name);
  EXPECT_EQ(got.text.arguments, sent.text.arguments);
  EXPECT_EQ(got.text.environment, sent.text.environment);
  EXPECT_EQ(std::memcmp(&got.inherit, &sent.inherit, sizeof sent.inherit), 0);
  EXPECT_EQ(got.wanted_number, sent.wanted_number);
  EXPECT_EQ(got.stands_for, sent.stands_for);
  EXPECT_EQ(got.rank_descriptor, sent.rank_descriptor);
  EXPECT_EQ(got.descriptor_numbers, sent.descriptor_numbers);
}

JobStatus example_status() {
  JobStatus status{.host_pid = 7,
                   .launcher_pid = 6,
                   .expected_tasks = 3,
                   .capacity = 64,
                   .refused_messages = 11,
                   .requests = {{"read", 12}, {"write", 13}},
                   .departures = {{2, "/bin/other", "it is traced"}},
                   .tasks = {}};
  status.tasks.push_back(
      {1, TaskState::kRunning, 8, 0, 1, 2, 3, 4, 5, 6, "/bin/prog", "prog 7", "group"});
  status.tasks.push_back({2, TaskState::kEnded, 9, 256, 1, 2, 3, 4, 0, -1, "", "", ""});
  return status;
}

TEST(Status, ArrivesAsItWasSent) {
  const JobStatus got = decode_status(encode(example_status()));
  EXPECT_EQ(got.host_pid, 7);
  EXPECT_EQ(got.launcher_pid, 6);
  EXPECT_EQ(got.expected_tasks, 3u);
  EXPECT_EQ(got.refused_messages, 11u);
  ASSERT_EQ(got.requests.size(), 2u);
  EXPECT_EQ(got.requests[1].kind, "write");
  EXPECT_EQ(got.requests[1].count, 13u);
  ASSERT_EQ(got.departures.size(), 1u);
  EXPECT_EQ(got.departures[0].rank, 2);
  EXPECT_EQ(got.departures[0].program, "/bin/other");
  EXPECT_EQ(got.departures[0].reason, "it is traced");
  ASSERT_EQ(got.tasks.size(), 2u);
  EXPECT_EQ(got.tasks[0].program, "/bin/prog");
  EXPECT_EQ(got.tasks[0].command, "prog 7");
  EXPECT_EQ(got.tasks[0].escaped, 5u);
  EXPECT_EQ(got.tasks[1].state, TaskState::kEnded);
  EXPECT_EQ(got.tasks[1].wait_status, 256);
}

TEST(Status, IsRefusedWhereverItIsCutOff) {
  const std::string whole = encode(example_status());
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(code_of([&] { decode_status(whole.substr(0, bytes)); }), -EPROTO) << bytes;
}

TEST(Status, IsRefusedWithAStateThatNoTaskHas) {
  JobStatus status = example_status();
  status.tasks[0].state = static_cast<TaskState>(4);
  EXPECT_EQ(code_of([&] { decode_status(encode(status)); }), -EPROTO);
}

TEST(Launch, IsRefusedWhereverItIsCutOff) {
  const std::string whole = encode(example());
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(code_of([&] { decode_launch(whole.substr(0, bytes)); }), -EPROTO) << bytes;
}

TEST(Launch, IsRefusedWithBytesBehindItsEnd) {
  EXPECT_EQ(code_of([] { decode_launch(encode(example()) + '\0'); }), -EPROTO);
}

TEST(Launch, IsRefusedWithANulInAString) {
  Launch launch = example();
  launch.text.arguments[0] = std::string("a\0b", 3);
  EXPECT_EQ(code_of([&] { decode_launch(encode(launch)); }), -EPROTO);
}

TEST(Launch, IsRefusedWithDescriptorNumbersThatDoNotAscend) {
  for (const std::vector<int32_t>& numbers :
       {std::vector<int32_t>{-1}, {2, 1}, {1, 1}, {0, 5, 5}, {-2147483647 - 1, 0}}) {
    Launch launch = example();
    launch.descriptor_numbers = numbers;
    EXPECT_EQ(code_of([&] { decode_launch(encode(launch)); }), -EPROTO);
  }
}

TEST(Launch, IsRefusedWithAProcessorMaskBeyondItsArray) {
  Launch launch = example();
  launch.inherit.cpu_mask_bytes = sizeof launch.inherit.cpu_mask + 1;
  EXPECT_EQ(code_of([&] { decode_launch(encode(launch)); }), -EPROTO);
}

TEST(Launch, IsRefusedWithCountsThatExceedIt) {
  const std::string whole = encode(example());
  // Every aligned or unaligned word in turn becomes a huge count or length.
  for (size_t at = 0; at + sizeof(uint64_t) <= whole.size(); ++at) {
    for (uint64_t value : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 32, uint64_t{1} << 61}) {
      std::string damaged = whole;
      std::memcpy(damaged.data() + at, &value, sizeof value);
      const int code = code_of([&] { decode_launch(damaged); });
      EXPECT_TRUE(code == 0 || code == -EPROTO) << "at " << at << ": " << code;
    }
  }
}

TEST(Launch, SurvivesNoise) {
  std::mt19937 random(20150901);
  const std::string whole = encode(example());
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = whole;
    for (int n = 0; n < 4; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    const int code = code_of([&] { decode_launch(damaged); });
    EXPECT_TRUE(code == 0 || code == -EPROTO) << code;
  }
}

TEST(Refusal, ArrivesWithCodeAndText) {
  const base::Error got = decode_refusal(encode_refusal({-ENOEXEC, "a.out: not an ELF program"}));
  EXPECT_EQ(got.code(), -ENOEXEC);
  EXPECT_STREQ(got.what(), "a.out: not an ELF program");
}

TEST(Refusal, IsRefusedWhereverItIsCutOff) {
  const std::string whole = encode_refusal({-ENOENT, "x"});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(code_of([&] { decode_refusal(whole.substr(0, bytes)); }), -EPROTO) << bytes;
}

// A caller took code 0 for success.
TEST(Refusal, IsRefusedWithACodeThatIsNoError) {
  for (const int code : {0, 1, 4096, -4096, INT_MIN})
    EXPECT_EQ(code_of([&] { decode_refusal(encode_refusal({code, "x"})); }), -EPROTO) << code;
  std::string beyond = encode_refusal({-ENOENT, "x"});
  beyond[7] = 0;  // the low 32 bits are those of -ENOENT
  EXPECT_EQ(code_of([&] { decode_refusal(beyond); }), -EPROTO);
}

TEST(TheEndOfATask, ArrivesWithTheReasonThatItHas) {
  const End without = decode_end(encode(End{{3, 77, 0x100, 1}, {}}));
  EXPECT_EQ(without.number, 3u);
  EXPECT_EQ(without.pid, 77);
  EXPECT_EQ(without.wait_status, 0x100);
  EXPECT_EQ(without.is_first_fault, 1u);
  EXPECT_FALSE(without.reason);
  const End with =
      decode_end(encode(End{{3, 77, 0x7d00, 0}, base::Error{-EPERM, "could not bind"}}));
  ASSERT_TRUE(with.reason);
  EXPECT_EQ(with.reason->code(), -EPERM);
  EXPECT_STREQ(with.reason->what(), "could not bind");
}

TEST(TheEndOfATask, IsRefusedWhereverItIsCutOff) {
  const std::string whole = encode(End{{3, 77, 0x7d00, 0}, base::Error{-EPERM, "x"}});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    if (bytes == sizeof(Ended)) continue;
    EXPECT_EQ(code_of([&] { decode_end(whole.substr(0, bytes)); }), -EPROTO) << bytes;
  }
  EXPECT_EQ(code_of([&] { decode_end(whole + "x"); }), -EPROTO);
}

TEST(Departure, ArrivesAsItWasSent) {
  const Departure got = decode_departure(encode(Departure{3, "/bin/prog", "it is traced"}));
  EXPECT_EQ(got.rank, 3);
  EXPECT_EQ(got.program, "/bin/prog");
  EXPECT_EQ(got.reason, "it is traced");
  EXPECT_EQ(code_of([] { decode_departure(encode(Departure{}) + "x"); }), -EPROTO);
}

TEST(PlainMessage, MustHaveItsExactSize) {
  const Started sent{7, 4321};
  const std::string payload = encode_plain(sent);
  EXPECT_EQ(decode_plain<Started>(payload).pid, 4321);
  EXPECT_EQ(code_of([&] { decode_plain<Started>(payload + "x"); }), -EPROTO);
  EXPECT_EQ(code_of([&] { decode_plain<Started>(payload.substr(1)); }), -EPROTO);
  EXPECT_EQ(code_of([&] { decode_plain<Hello>(""); }), -EPROTO);
}

}  // namespace
}  // namespace nagaya::task
