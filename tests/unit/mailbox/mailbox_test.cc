// SPDX-License-Identifier: BSD-3-Clause
#include "mailbox/mailbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "mailbox/waiting.h"

namespace nagaya::mailbox {
namespace {

const Owner kTask = Owner::task(3, 1), kOther = Owner::task(4, 1);

uint64_t value_of(const Message& message) {
  uint64_t value;
  std::memcpy(&value, message.payload, sizeof value);
  return value;
}

// The reader looks further than its head only now and then.
Message take_patiently(Mailbox& box) {
  for (int n = 0; n < 100; ++n)
    if (const Message message = box.take()) return message;
  return {};
}

TEST(Mailbox, GivesKindSizeAndPayloadToTheReader) {
  auto box = std::make_unique<Mailbox>();
  EXPECT_FALSE(box->take());
  const char text[kMessageMaxBytes + 1] = "a payload may have any size up to fifty-six bytes......";
  for (size_t bytes = 0; bytes <= kMessageMaxBytes; ++bytes)
    ASSERT_EQ(box->post(kTask, static_cast<uint8_t>(200 + bytes % 50), text, bytes), 0);
  for (size_t bytes = 0; bytes <= kMessageMaxBytes; ++bytes) {
    const Message message = box->take();
    ASSERT_TRUE(message);
    EXPECT_EQ(message.kind, 200 + bytes % 50);
    ASSERT_EQ(message.bytes, bytes);
    EXPECT_EQ(std::memcmp(message.payload, text, bytes), 0);
  }
  EXPECT_FALSE(box->take());
}

TEST(Mailbox, TakesTheNextMessageOnlyIfItIsTheOneThatIsAskedFor) {
  auto box = std::make_unique<Mailbox>();
  const auto is = [](uint64_t wanted) {
    return [wanted](const Message& message) { return value_of(message) == wanted; };
  };
  EXPECT_FALSE(box->take_if(is(0)));
  for (uint64_t n = 0; n < 3; ++n) ASSERT_EQ(box->post(kTask, 1, &n, sizeof n), 0);
  EXPECT_FALSE(box->take_if(is(1)));
  EXPECT_EQ(value_of(box->take_if(is(0))), 0U);
  EXPECT_FALSE(box->take_if(is(2)));
  EXPECT_EQ(value_of(box->take()), 1U);
  EXPECT_EQ(value_of(box->take_if(is(2))), 2U);
  EXPECT_FALSE(take_patiently(*box));
}

TEST(Mailbox, RefusesWhatIsTooLarge) {
  auto box = std::make_unique<Mailbox>();
  const char text[64] = {};
  EXPECT_EQ(box->post(kTask, 1, text, kMessageMaxBytes + 1), -EMSGSIZE);
  EXPECT_FALSE(take_patiently(*box));
}

TEST(Mailbox, AnswersAgainWhenFullAndChangesNothing) {
  auto box = std::make_unique<Mailbox>();
  for (uint64_t n = 0; n < 256; ++n) ASSERT_EQ(box->post(kTask, 1, &n, sizeof n), 0);
  const uint64_t more = 256;
  EXPECT_EQ(box->post(kTask, 1, &more, sizeof more), -EAGAIN);
  EXPECT_EQ(value_of(box->take()), 0U);
  EXPECT_EQ(box->post(kTask, 1, &more, sizeof more), -EAGAIN);  // the reader still looks at it
  EXPECT_EQ(value_of(box->take()), 1U);
  EXPECT_EQ(box->post(kTask, 1, &more, sizeof more), 0);
  for (uint64_t n = 2; n <= 256; ++n) ASSERT_EQ(value_of(box->take()), n);
}

TEST(Mailbox, IsGoodForManyLaps) {
  auto box = std::make_unique<Mailbox>();
  for (uint64_t n = 0; n < 10000; ++n) {
    ASSERT_EQ(box->post(kTask, 1, &n, sizeof n), 0);
    if (n % 3 != 2) continue;
    for (uint64_t back = 2; back != UINT64_MAX; --back) ASSERT_EQ(value_of(box->take()), n - back);
  }
}

// The host empties a mailbox between two owners.
std::vector<uint64_t> cleared(Mailbox& box) {
  std::vector<uint64_t> values;
  box.clear([&](const Message& message) { values.push_back(value_of(message)); });
  return values;
}

TEST(Mailbox, IsClearedOfWhatNobodyHasReadButNotOfWhatItsReaderHeld) {
  auto box = std::make_unique<Mailbox>();
  for (const uint64_t value : {1, 2, 3, 4}) box->post(kTask, 1, &value, sizeof value);
  box->take();
  EXPECT_EQ(value_of(box->take()), 2U);
  EXPECT_EQ(cleared(*box), (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(cleared(*box), std::vector<uint64_t>{});
  EXPECT_FALSE(take_patiently(*box));
}

TEST(Mailbox, IsClearedOfAllThatItHasRoomFor) {
  auto box = std::make_unique<Mailbox>();
  for (int round = 0; round < 3; ++round) {
    for (uint64_t n = 0; n < 256; ++n) ASSERT_EQ(box->post(kTask, 1, &n, sizeof n), 0);
    EXPECT_EQ(cleared(*box).size(), 256U);
    EXPECT_FALSE(take_patiently(*box));
  }
}

TEST(Mailbox, IsNotArmedAfterTheClearingForAReaderThatDiedAsleep) {
  auto box = std::make_unique<Mailbox>();
  const uint32_t armed = box->bell().arm();
  box->before_sleep();
  cleared(*box);
  const uint64_t value = 1;
  box->post(kTask, 1, &value, sizeof value);
  const uint64_t soon = Machine::now_ns() + 10'000'000;
  box->bell().sleep(armed, soon);
  EXPECT_LT(Machine::now_ns(), soon) << "the bell is not armed any more";
  EXPECT_EQ(value_of(box->take()), value);
}

TEST(Mailbox, LosesNothingThatIsPostedWhileItIsCleared) {
  constexpr uint64_t kPosts = 50000;
  auto box = std::make_unique<Mailbox>();
  std::thread poster([&] {
    for (uint64_t n = 1; n <= kPosts; ++n)
      while (box->post(kOther, 1, &n, sizeof n) != 0) Machine::yield();
  });
  uint64_t last = 0, wrong = 0;
  while (last < kPosts) {
    for (const uint64_t value : cleared(*box)) wrong += value != ++last;
    if (const Message message = box->take()) wrong += value_of(message) != ++last;
    Machine::yield();
  }
  poster.join();
  EXPECT_EQ(wrong, 0U);
}

// Posters against one sleeping reader; run under ThreadSanitizer too.
TEST(Mailbox, LosesNothingAmongThreads) {
  constexpr uint64_t kThreads = 3, kPosts = 20000;
  auto box = std::make_unique<Mailbox>();
  std::vector<std::thread> threads;
  for (uint64_t self = 1; self <= kThreads; ++self)
    threads.emplace_back([&, self] {
      for (uint64_t n = 1; n <= kPosts; ++n) {
        const uint64_t payload[7] = {n, n, n, n, n, n, n};
        const Owner owner = Owner::task(static_cast<uint32_t>(self), 1);
        while (box->post(owner, static_cast<uint8_t>(self), payload, sizeof payload) != 0)
          Machine::yield();
      }
    });
  uint64_t last[kThreads + 1] = {}, wrong = 0;
  Load load{4, 1};
  Waiting waiting(box->bell(), load, {0, 2});
  for (uint64_t count = 0; count < kThreads * kPosts; ++count) {
    Message message;
    waiting.until([&] { return static_cast<bool>(message = box->take()); }, kNever, *box);
    const uint64_t expected = ++last[message.kind];
    uint64_t payload[7];
    std::memcpy(payload, message.payload, sizeof payload);
    for (const uint64_t word : payload) wrong += word != expected;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace nagaya::mailbox
