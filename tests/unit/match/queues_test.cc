// SPDX-License-Identifier: BSD-3-Clause
// The queues against lists that are searched from their beginning, as MPI words it.
#include "match/queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <random>

namespace nagaya::match {
namespace {

bool matches(const Envelope& wanted, const Envelope& sent) {
  return wanted.context == sent.context &&
         (wanted.source == NAGAYA_ANY_SOURCE || wanted.source == sent.source) &&
         (wanted.tag == NAGAYA_ANY_TAG ? sent.tag >= 0 : wanted.tag == sent.tag);
}

class Envelopes {
 public:
  explicit Envelopes(unsigned seed) : random_(seed) {}

  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  Envelope sent() {
    // Tags below -1 are an MPI's own.
    return {below(3), static_cast<int32_t>(below(4)), static_cast<int32_t>(below(5)) - 6 + wide()};
  }
  Envelope wanted() {
    Envelope envelope = sent();
    if (below(4) == 0) envelope.source = NAGAYA_ANY_SOURCE;
    if (below(4) == 0) envelope.tag = NAGAYA_ANY_TAG;
    return envelope;
  }

 private:
  int32_t wide() { return below(3) == 0 ? 0 : 6; }

  std::mt19937 random_;
};

class RandomQueues : public testing::TestWithParam<unsigned> {};

TEST_P(RandomQueues, AMessageFindsTheReceiveThatWasPostedFirst) {
  Envelopes envelopes(GetParam());
  PostedReceives posted;
  std::list<std::unique_ptr<nagaya_receive>> all;
  for (int step = 0; step < 20'000; ++step) {
    const unsigned kind = envelopes.below(20);
    if (kind < 11) {
      all.push_back(std::make_unique<nagaya_receive>());
      all.back()->wanted = envelopes.wanted();
      posted.enter(*all.back());
    } else if (kind == 11 && !all.empty()) {
      auto leaving = std::next(all.begin(), envelopes.below(static_cast<unsigned>(all.size())));
      posted.leave(**leaving);
      all.erase(leaving);
    } else {
      const Envelope sent = envelopes.sent();
      const auto expected = std::find_if(
          all.begin(), all.end(), [&](const auto& one) { return matches(one->wanted, sent); });
      ASSERT_EQ(posted.take(sent), expected == all.end() ? nullptr : expected->get());
      if (expected != all.end()) all.erase(expected);
    }
  }
}

TEST_P(RandomQueues, AReceiveFindsTheMessageThatCameFirst) {
  Envelopes envelopes(GetParam());
  UnexpectedQueue queue;
  std::list<std::unique_ptr<Unexpected>> all;
  for (int step = 0; step < 20'000; ++step) {
    if (envelopes.below(20) < 12) {
      all.push_back(std::make_unique<Unexpected>());
      all.back()->incoming.cell.header = port_header({envelopes.sent(), 0});
      queue.enter(*all.back());
      continue;
    }
    const Envelope wanted = envelopes.wanted();
    const auto expected = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      return matches(wanted, one->incoming.envelope());
    });
    Unexpected* const found = queue.first(wanted);
    ASSERT_EQ(found, expected == all.end() ? nullptr : expected->get());
    if (found == nullptr) continue;
    queue.leave(*found);
    all.erase(expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomQueues, testing::Range(1u, 6u));

TEST(PostedReceives, KnowsWhetherAReceiveIsStillThere) {
  PostedReceives posted;
  nagaya_receive receive{};
  receive.wanted = {1, 2, 3};
  posted.enter(receive);
  EXPECT_TRUE(PostedReceives::has(receive));
  EXPECT_EQ(posted.take({1, 2, 3}), &receive);
  EXPECT_FALSE(PostedReceives::has(receive));
}

}  // namespace
}  // namespace nagaya::match
