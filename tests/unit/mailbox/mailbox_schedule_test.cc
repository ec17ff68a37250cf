// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving, within a budget of preemptions and delayed stores, of two posters and a
// reader that sleeps at once; and the same with a poster that stops for ever at any of its steps.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "mailbox/mailbox.h"
#include "mailbox/schedule.h"
#include "mailbox/waiting.h"

namespace nagaya::mailbox {
namespace {

using schedule::Run;
using TestWaiting = BasicWaiting<schedule::Machine>;

constexpr uint64_t kNeverDies = UINT64_MAX;
#ifdef NAGAYA_SANITIZED
constexpr int kLess = 1;  // of the budget: a sanitizer takes its time
#else
constexpr int kLess = 0;
#endif

Owner poster_of(unsigned n) {
  return Owner::task(n, 1);
}

template <uint64_t kCells>
class Post {
 public:
  using Box = BasicMailbox<schedule::Machine, kCells>;

  Post() : box_(std::make_unique<Box>()) {}

  // Poster `n` posts 1 .. count; kind says who it is.
  void post(unsigned n, uint64_t count) {
    for (uint64_t value = 1; value <= count; ++value)
      while (box_->post(poster_of(n), static_cast<uint8_t>(n), &value, sizeof value) == -EAGAIN)
        schedule::Machine::yield();
  }
  // Until enough() was taken.
  template <class Enough>
  void read(Enough enough) {
    TestWaiting waiting(box_->bell(), load_, kSleepAtOnce);
    while (!enough()) {
      Message message;
      const auto look = [&] { return (message = box_->take()) || enough(); };
      waiting.until(look, kNever, *box_);
      if (message) note(message);
    }
  }
  void note(const Message& message) {
    uint64_t value = 0;
    std::memcpy(&value, message.payload, sizeof value);
    if (value != ++taken_[message.kind])
      failure_ = "poster " + std::to_string(message.kind) + ": message " + std::to_string(value) +
                 " came as number " + std::to_string(taken_[message.kind]);
  }
  void drain() {
    for (int n = 0; n < 200; ++n)
      if (const Message message = box_->take()) note(message);
  }
  // After everything: as many messages as there are cells can be posted and taken.
  void check_whole() {
    box_->take();
    for (uint64_t n = 0; n < kCells; ++n)
      if (box_->post(poster_of(9), 9, &n, sizeof n) != 0) failure_ = "a cell is lost";
    uint64_t found = 0;
    for (int n = 0; n < 500; ++n)
      if (box_->take()) ++found;
    if (found != kCells) failure_ = "a message is lost at the end";
  }
  Box& box() { return *box_; }
  std::string failure_;
  std::map<unsigned, uint64_t> taken_;

 private:
  std::unique_ptr<Box> box_;
  Load load_{2, 1};
};

// All schedules with two posters of `first` and `second` messages; the first dies before its
// operation `dies_before`, and then the host forgets it, if `host`.
template <uint64_t kCells>
std::string run_once(Run& run, uint64_t first, uint64_t second, uint64_t dies_before, bool host,
                     bool& died) {
  Post<kCells> post;
  run.add([&] { post.post(1, first); }, dies_before);
  run.add([&] { post.post(2, second); });
  // Without the host nobody rings for the dead, and the reader must not need it.
  const bool all_of_first = dies_before == kNeverDies || host;
  run.add([&] {
    post.read([&] {
      return post.taken_[2] == second &&
             (post.taken_[1] == first || !all_of_first || run.somebody_died());
    });
  });
  if (host)
    run.add([&] {
      run.await_death();
      post.box().cancel_posts_of(poster_of(1));
    });
  std::string failure = run.go();
  if (!failure.empty()) return failure;
  died |= run.somebody_died();
  if (!host && run.somebody_died()) post.box().cancel_posts_of(poster_of(1));
  post.drain();
  if (post.taken_[2] != second) return "a message of the living poster was lost or came twice";
  if (post.taken_[1] > first || (!run.somebody_died() && post.taken_[1] != first))
    return "a message of the first poster was lost or came twice";
  post.check_whole();
  return post.failure_;
}

template <uint64_t kCells>
void expect_right(int budget, uint64_t first, uint64_t second) {
  std::string failure;
  bool died = false;
  const uint64_t runs = schedule::explore(
      budget,
      [&](Run& run) { return run_once<kCells>(run, first, second, kNeverDies, false, died); },
      failure);
  EXPECT_EQ(failure, "") << "in schedule " << runs;
  std::cout << runs << " schedules\n";
}

TEST(MailboxSchedules, LoseNothingDuplicateNothingAndWakeTheReader) {
  expect_right<4>(3 - kLess, 1, 1);
}

TEST(MailboxSchedules, KeepTheOrderOfEachPoster) {
  expect_right<4>(2, 2, 2);
}

TEST(MailboxSchedules, SurviveAFullMailboxAndCellsUsedAgain) {
  expect_right<2>(2, 2, 2);
}

// The dying poster stops before each of its operations in turn, until it has none left.
template <uint64_t kCells>
void expect_death_survived(int budget, uint64_t first, uint64_t second, bool host) {
  uint64_t runs = 0, steps = 0;
  for (bool died = true; died; ++steps) {
    died = false;
    std::string failure;
    runs += schedule::explore(
        budget, [&](Run& run) { return run_once<kCells>(run, first, second, steps, host, died); },
        failure);
    ASSERT_EQ(failure, "") << "the poster died before operation " << steps;
  }
  EXPECT_GT(steps, 5U);  // it did die at several
  std::cout << runs << " schedules, death at " << steps - 1 << " steps\n";
}

TEST(MailboxSchedules, DeathInMidPostDelaysNobodyEvenBeforeItIsKnown) {
  expect_death_survived<8>(1, 2, 2, false);
}

TEST(MailboxSchedules, DeathInMidPostIsForgottenWhileOthersPostAndTake) {
  expect_death_survived<8>(2 - kLess, 1, 1, true);
}

TEST(MailboxSchedules, DeathInMidPostInAFullMailboxEndsWithTheForgetting) {
  expect_death_survived<2>(1, 2, 2, true);
}

// All schedules with two posters of one message each, and a reader that dies before its
// operation `dies_before`; host(post) runs from then on. When all are at their end, the next reader
// takes the rest.
template <class Host>
std::string run_reader(Run& run, uint64_t dies_before, Host host, bool& died) {
  Post<4> post;
  run.add([&] { post.post(1, 1); });
  run.add([&] { post.post(2, 1); });
  const auto read = [&] {
    for (int n = 0; n < 2; ++n)
      if (const Message message = post.box().take()) post.note(message);
  };
  run.add(read, dies_before);
  run.add([&] {
    run.await_death();
    if (run.somebody_died()) host(post);
  });
  const std::string failure = run.go();
  if (!failure.empty()) return failure;
  died |= run.somebody_died();
  post.drain();
  if (post.taken_[1] != 1 || post.taken_[2] != 1) return "a message was lost or came twice";
  post.check_whole();
  return post.failure_;
}

template <class Host>
void expect_death_of_reader_survived(Host host) {
  uint64_t runs = 0, steps = 0;
  for (bool died = true; died; ++steps) {
    died = false;
    std::string failure;
    runs += schedule::explore(
        2 - kLess, [&](Run& run) { return run_reader(run, steps, host, died); }, failure);
    ASSERT_EQ(failure, "") << "the reader died before operation " << steps;
  }
  EXPECT_GT(steps, 5U);
  std::cout << runs << " schedules, death at " << steps - 1 << " steps\n";
}

TEST(MailboxSchedules, NothingIsTakenTwiceOrLostWhereverAReaderDies) {
  expect_death_of_reader_survived([](auto&) {});
}

TEST(MailboxSchedules, NothingIsClearedTwiceOrLostWhereverAReaderDiesWhileOthersPost) {
  expect_death_of_reader_survived(
      [](auto& post) { post.box().clear([&](const Message& message) { post.note(message); }); });
}

}  // namespace
}  // namespace nagaya::mailbox
