// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/batch.h"

#include <tuple>

#include "delegatee/fleet.h"
#include "delegatee/raw_batch.h"

namespace nagaya::delegatee {
namespace {

std::span<const std::byte> view(const std::string& bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

TEST(Batch, GivesBackItsRecordsInOrder) {
  const std::string bytes = RawBatch()
                                .add(put_header(), "12345678")
                                .add(header_of(Kind::kPut, 3), "abc")
                                .add(header_of(Kind::kProbe))
                                .bytes();
  const auto batch = Batch::parse(view(bytes));
  ASSERT_TRUE(batch);
  std::string seen;
  EXPECT_TRUE(batch->for_each([&](const Header& header, std::span<const std::byte> payload) {
    seen += std::to_string(static_cast<int>(header.kind)) + ":" +
            std::string(reinterpret_cast<const char*>(payload.data()), payload.size()) + " ";
    return true;
  }));
  EXPECT_EQ(seen, "0:12345678 0:abc 7: ");
}

TEST(Batch, ThatIsMalformedIsRefusedWhole) {
  for (const NamedBatch& batch : malformed_batches())
    EXPECT_FALSE(Batch::parse(view(batch.bytes))) << batch.name;
  for (const NamedBatch& batch : sound_batches())
    EXPECT_TRUE(Batch::parse(view(batch.bytes))) << batch.name;
}

// A delegatee, and node 1, which says what the test wants.
struct Stranger {
  explicit Stranger(const Options& options = {})
      : network(2), proofs(secrets_of(2), 1, options.proof_covers_data) {
    auto endpoints = fabric::open_all(network, 2);
    node = std::make_unique<TestNode>(std::move(endpoints[0]), 0, 2, options);
    raw = std::move(endpoints[1]);
    memory = pattern(64, 1);
    node->regions.add(0, memory.data(), memory.size());
  }
  // As its next batch.
  void say(const std::string& bytes) {
    say_as_it_is(signed_by(proofs, bytes));
    proofs.sent(0);
  }
  void say_as_it_is(const std::string& bytes) {
    ASSERT_TRUE(raw->try_send(0, bytes.data(), bytes.size(), 1));
    for (int n = 0; n < 4; ++n) {
      node->delegatee.round();
      fabric::Event events[16];
      for (size_t event = raw->poll(events); event-- > 0;)
        if (events[event].kind == fabric::Event::Kind::kReceived) ++messages_heard;
    }
  }
  // The records that it sends now.
  std::vector<std::pair<Header, Bytes>> hear() {
    std::vector<std::pair<Header, Bytes>> all;
    for (int n = 0; n < 8; ++n) {
      node->delegatee.round();
      fabric::Event events[16];
      for (size_t event = raw->poll(events), at = 0; at < event; ++at) {
        if (events[at].kind != fabric::Event::Kind::kReceived) continue;
        const auto batch = Batch::parse({events[at].data, events[at].bytes});
        EXPECT_TRUE(batch);
        if (batch)
          batch->for_each([&](const Header& header, std::span<const std::byte> payload) {
            all.emplace_back(header, Bytes(payload.begin(), payload.end()));
            return true;
          });
      }
    }
    return all;
  }
  // 1: goes on.
  int state_of_link() {
    flags.push_back(std::make_unique<Flag>());
    Flag& flag = *flags.back();
    node->push(0, flagged(with_payload(Op::kPut, {1, 0, 1}, "x", 1), flag));
    node->delegatee.round();
    return flag.now() == 0 ? 1 : flag.now();
  }

  std::vector<std::unique_ptr<Flag>> flags;
  fabric::LoopbackNetwork network;
  Proofs proofs;
  std::unique_ptr<TestNode> node;
  std::unique_ptr<fabric::Fabric> raw;
  Bytes memory;
  int messages_heard = 0;
};

TEST(Delegatee, DeclaresANodeFailedThatSaysNonsense) {
  for (const NamedBatch& batch : malformed_batches()) {
    if (!can_be_signed(batch.bytes)) continue;  // it is a stranger's
    Stranger stranger;
    stranger.say(batch.bytes);
    EXPECT_EQ(stranger.state_of_link(), -EPROTO) << batch.name;
    EXPECT_TRUE(stranger.memory == pattern(64, 1)) << batch.name;
    stranger.say(RawBatch().add(put_header(), "12345678").bytes());
    EXPECT_TRUE(stranger.memory == pattern(64, 1)) << "a failed node stays failed";
  }
}

// A requester's records, as node 1 gets them: whether the proof covers all that says where data go,
// and no more of the data than it need.
TEST(Delegatee, LeavesOnlyDataOfTheUserOpen) {
  Stranger other;
  Bytes data = pattern(3000, 1), message = pattern(70'000, 2);
  const Place place{1, 0, 1};
  const auto data_at_end = [&](Command command, uint64_t bytes) {
    command.offset = bytes;
    return command;
  };
  const llcl::Piece piece{reinterpret_cast<uint64_t>(data.data()), 0, 100, 30, 100, 200};
  other.node->push(0, transfer(Op::kPut, place, data.data(), 3000));
  other.node->push(0, with_payload(Op::kPut, place, data.data(), 32));
  other.node->push(0, put_notify(place, data.data(), 3000, place));
  other.node->push(0, of_pieces(Op::kPutPieces, place, {&piece, 1}));
  other.node->push(0, of_pieces(Op::kGetPieces, place, {&piece, 1}));
  other.node->push(0, atomic(llcl::Atomic::kAdd, llcl::Type::kUint64, place, nullptr, 1));
  const nagaya_llcl_accumulation sum{
      NAGAYA_ELEMENT_INT8, NAGAYA_REDUCE_SUM, 3000, nullptr, nullptr, data.data(), nullptr};
  nagaya_llcl_accumulation get_sum = sum;
  get_sum.result = message.data();
  other.node->push(0, accumulate_of(place, sum));
  other.node->push(0, accumulate_of(place, get_sum));
  other.node->push(0, compare_swap_of(place, 4, 1, 2, nullptr));
  other.node->push(0, transfer(Op::kActiveMessage, place, data.data(), 3000));
  other.node->push(0, data_at_end(transfer(Op::kActiveMessage, place, data.data(), 3000), 2900));
  other.node->push(
      0, data_at_end(transfer(Op::kActiveMessage, place, message.data(), 70'000), 70'000 - 40'000));
  struct Record {
    Kind kind;
    uint32_t bytes, covered;  // of the payload
    bool operator==(const Record&) const = default;
  };
  const uint32_t part = kPayloadMaxBytes, second_end = 2 * part - 40'000;
  const std::vector<Record> expected = {
      {Kind::kPut, 3000, 64},
      {Kind::kPut, 32, 32},
      {Kind::kPutNotify, 3016, 16 + 64},
      {Kind::kPutPieces, 3024, 24 + 64},
      {Kind::kGetPieces, 24, 24},
      {Kind::kAtomic, 16, 16},
      {Kind::kAccumulate, 3024, 24 + 64},
      {Kind::kGetAccumulate, 3024, 24 + 64},
      {Kind::kCompareSwap, 16, 16},
      {Kind::kMessage, 3000, 3000},
      {Kind::kMessage, 3000, 100 + 64},
      {Kind::kMessage, part, part},
      {Kind::kMessage, part, part - second_end + 64},
      {Kind::kMessage, 70'000 - 2 * part, 64},
  };
  std::vector<Record> seen;
  for (const auto& [header, payload] : other.hear())
    seen.push_back({header.kind, header.bytes, header.bytes - header.open_bytes});
  const auto order = [](const Record& a, const Record& b) {
    return std::tuple(a.kind, a.bytes, a.covered) < std::tuple(b.kind, b.bytes, b.covered);
  };
  auto sorted = expected;
  std::ranges::sort(sorted, order);
  std::ranges::sort(seen, order);
  EXPECT_TRUE(seen == sorted) << seen.size();
}

TEST(Delegatee, ServesANodeThatSpeaksWell) {
  Stranger stranger;
  stranger.say(RawBatch().add(put_header(), "12345678").bytes());
  EXPECT_EQ(stranger.state_of_link(), 1);
  EXPECT_EQ(std::memcmp(stranger.memory.data(), "12345678", 8), 0);
  EXPECT_EQ(stranger.messages_heard, 1);
}

TEST(Delegatee, ScattersWhatLiesInTheRegionAndNothingElse) {
  Stranger stranger;
  stranger.say(scattered_batch().bytes());
  EXPECT_EQ(stranger.state_of_link(), 1);
  Bytes expected(64, std::byte{'x'});
  std::memcpy(expected.data(), "12345678", 8);
  uint64_t counter;
  std::memcpy(&counter, expected.data() + 56, sizeof counter);
  ++counter;
  std::memcpy(expected.data() + 56, &counter, sizeof counter);
  EXPECT_TRUE(stranger.memory == expected);
  EXPECT_EQ(stranger.node->delivery.wakes[0].load(), 1u) << "once for all records";
}

TEST(Delegatee, AccumulatesWhatLiesInTheRegionAndNothingElse) {
  Stranger stranger;
  uint64_t first;
  std::memcpy(&first, stranger.memory.data(), sizeof first);
  stranger.say(accumulating_batch().bytes());
  EXPECT_EQ(stranger.state_of_link(), 1);
  Bytes expected = pattern(64, 1);
  first += 5;
  std::memcpy(expected.data(), &first, sizeof first);
  EXPECT_TRUE(stranger.memory == expected);
}

// A gap may hold anything of the task's.
TEST(Delegatee, SendsNoByteOfTheGapsOfPairs) {
  Stranger other;
  constexpr size_t kGap = 12, kGapBytes = 4;
  const Bytes no_gap(kGapBytes);
  const auto expect_no_gap = [&](const Bytes& sent, size_t pair) {
    ASSERT_GE(sent.size(), pair + 16);
    EXPECT_TRUE(std::equal(no_gap.begin(), no_gap.end(), sent.begin() + pair + kGap));
  };
  const Bytes pairs = pattern(3000, 7);
  other.node->push(0, transfer(Op::kPut, {1, 0, 1}, const_cast<std::byte*>(pairs.data()), 3000));
  other.node->delegatee.round();
  other.node->push(0, accumulate_of({1, 0, 1}, {NAGAYA_ELEMENT_DOUBLE_INT, NAGAYA_REDUCE_MAXLOC, 2,
                                                nullptr, nullptr, pairs.data(), nullptr}));
  const auto requests = other.hear();
  ASSERT_EQ(requests.size(), 2u);
  for (const size_t pair : {0, 16}) expect_no_gap(requests[1].second, sizeof(Strided) + pair);

  Header get = accumulate_header(Kind::kGetAccumulate, NAGAYA_REDUCE_NO_OP, sizeof(Strided));
  RawBatch batch;
  batch.add(get, plain_bytes(Strided{0, 64, 1, 0}));
  get.type = NAGAYA_ELEMENT_DOUBLE_INT;
  batch.add(get, plain_bytes(Strided{0, 32, 1, 0}));
  const std::string bytes = signed_by(other.proofs, batch.bytes());
  ASSERT_TRUE(other.raw->try_send(0, bytes.data(), bytes.size(), 1));
  const auto answers = other.hear();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_TRUE(answers[0].second == other.memory);
  for (const size_t pair : {0, 16}) expect_no_gap(answers[1].second, pair);
}

TEST(Delegatee, DeclaresANodeFailedWhoseAnswerIsNotOfTheOldestPieces) {
  Stranger stranger({.credit_commands = 3});
  Bytes local(100000);
  const llcl::Piece piece{reinterpret_cast<uint64_t>(local.data()), 0, local.size(), 1, 0, 0};
  Flag flags[2];
  for (Flag& flag : flags)
    stranger.node->push(0, flagged(of_pieces(Op::kGetPieces, {1, 0, 1}, {&piece, 1}), flag));
  stranger.node->delegatee.round();
  Header answer = header_of(Kind::kAnswer);
  answer.argument = static_cast<uint32_t>(-EINVAL);
  answer.tag = 1 << 16 | 1;  // the second's: its turn was after the first's
  stranger.say(RawBatch().add(answer).bytes());
  for (Flag& flag : flags) EXPECT_EQ(flag.now(), -EPROTO);
}

TEST(Delegatee, DeclaresANodeFailedThatAnswersWhatNobodyAsked) {
  for (const uint32_t tag : {0u, 0x10000u, 0x1ffffu, UINT32_MAX}) {
    Stranger stranger;
    Header answer = header_of(Kind::kAnswer);
    answer.tag = tag;
    stranger.say(RawBatch().add(answer).bytes());
    EXPECT_EQ(stranger.state_of_link(), -EPROTO) << tag;
  }
}

TEST(Delegatee, DeclaresANodeFailedWhoseAnswerDoesNotFitTheQuestion) {
  for (const std::string& payload : {std::string(), std::string(7, 'x'), std::string(9, 'x')}) {
    Stranger stranger;
    Bytes local(16);
    Flag flag;
    stranger.node->push(0, flagged(transfer(Op::kGet, {1, 0, 1}, local.data(), 8), flag));
    stranger.node->delegatee.round();
    Header answer = header_of(Kind::kAnswer, static_cast<uint32_t>(payload.size()));
    answer.tag = 1 << 16;  // the first use of the first slot
    stranger.say(RawBatch().add(answer, payload).bytes());
    EXPECT_EQ(flag.now(), -EPROTO);
    EXPECT_TRUE(local == Bytes(16));
  }
}

TEST(Delegatee, DeclaresANodeFailedWhoseAnswerDoesNotFitTheAccumulate) {
  const std::vector<int64_t> values(2, 1);
  for (const bool gets : {false, true})
    for (const size_t bytes : {0, 8, 15, 16, 17, 24}) {
      if (bytes == (gets ? 16 : 0)) continue;
      Stranger stranger;
      std::vector<int64_t> before(2, 77);
      Flag flag;
      stranger.node->push(
          0, flagged(
                 accumulate_of({1, 0, 1}, {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, 2, nullptr,
                                           nullptr, values.data(), gets ? before.data() : nullptr}),
                 flag));
      stranger.node->delegatee.round();
      Header answer = header_of(Kind::kAnswer, static_cast<uint32_t>(bytes));
      answer.tag = 1 << 16;
      stranger.say(RawBatch().add(answer, std::string(bytes, 'x')).bytes());
      EXPECT_EQ(flag.now(), -EPROTO) << bytes;
      EXPECT_EQ(before, std::vector<int64_t>(2, 77));
    }
}

TEST(Delegatee, DeclaresANodeFailedWhosePartsOfAMessageDoNotFitTogether) {
  Header first = header_of(Kind::kMessage, 8);
  first.offset = 24;
  const auto other = [&](auto change) {
    Header header = first;
    change(header);
    return RawBatch().add(first, "12345678").add(header, std::string(header.bytes, 'x')).bytes();
  };
  for (const std::string& batch :
       {other([](Header& h) { h.bytes = 17; }), other([](Header& h) { h.offset = 16; }),
        other([](Header& h) { h.task = 1; }), other([](Header& h) { h.region = 1; }),
        other([](Header& h) { h.argument = 1; }),
        RawBatch().add(header_of(Kind::kMessage, 1), "x").bytes(),
        RawBatch().add(header_of(Kind::kCancel)).bytes()}) {
    Stranger stranger;
    stranger.say(batch);
    EXPECT_EQ(stranger.state_of_link(), -EPROTO);
  }
}

TEST(Delegatee, ThrowsACancelledMessageAway) {
  Stranger stranger;
  Header message = header_of(Kind::kMessage, 8);
  message.offset = 16;
  stranger.say(RawBatch()
                   .add(message, "12345678")
                   .add(header_of(Kind::kCancel))
                   .add(message, "abcdefgh")
                   .add(message, "ABCDEFGH")
                   .bytes());
  const auto messages = stranger.node->delivery.take_messages(0);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(std::memcmp(messages[0].payload.data(), "abcdefghABCDEFGH", 16), 0);
}

TEST(Delegatee, TakesAnAnswerOnce) {
  Stranger stranger;
  Flag flag;
  stranger.node->push(0, flagged(with_payload(Op::kPut, {1, 0, 1}, "x", 1), flag));
  stranger.node->delegatee.round();
  Header answer = header_of(Kind::kAnswer);
  answer.tag = 1 << 16;
  stranger.say(RawBatch().add(answer).bytes());
  EXPECT_EQ(flag.now(), 1);
  stranger.say(RawBatch().add(answer).bytes());
  EXPECT_EQ(stranger.state_of_link(), -EPROTO);
}

TEST(Delegatee, HoldsNoMoreMessagesForANodeThanItsCredit) {
  Stranger stranger;
  stranger.node->delivery.set_room(0);
  const std::string payload(4000, 'm');
  Header message = header_of(Kind::kMessage, 4000);
  message.offset = 4000;
  const std::string two = RawBatch().add(message, payload).add(message, payload).bytes();
  for (int n = 0; n < 131; ++n) stranger.say(two);  // 1,048,000 bytes: 1 MiB is the limit
  EXPECT_EQ(stranger.state_of_link(), 1);
  stranger.say(two);
  EXPECT_EQ(stranger.state_of_link(), -EPROTO);
}

}  // namespace
}  // namespace nagaya::delegatee
