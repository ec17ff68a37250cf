// SPDX-License-Identifier: BSD-3-Clause
// Strangers send messages to a delegatee that exchanges checked data with another one.
#include "delegatee/proof.h"

#include "delegatee/fleet.h"
#include "delegatee/raw_batch.h"

namespace nagaya::delegatee {
namespace {

constexpr Node kSelf = 0, kPeer = 1, kThird = 2;

std::span<const std::byte> view(const std::string& bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}
std::string put_of(const char* eight_bytes) {
  return RawBatch().add(put_header(), eight_bytes).bytes();
}

class ProofTest : public testing::TestWithParam<bool> {
 protected:
  Proofs proofs_of(Node node) const { return {secrets_, node, GetParam()}; }
  Verdict check(const std::string& message) { return checking_.check(view(message), from_); }

  const std::vector<Secret> secrets_ = secrets_of(3);
  Proofs checking_ = proofs_of(kSelf), peer_ = proofs_of(kPeer);
  Node from_ = fabric::kUnknownNode;
};

TEST_P(ProofTest, TheNextBatchOfANodeIsGenuine) {
  Proofs third = proofs_of(kThird);
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(check(signed_by(peer_, put_of("12345678"))), Verdict::kGenuine);
    EXPECT_EQ(from_, kPeer);
    peer_.sent(kSelf);
    EXPECT_EQ(check(signed_by(third, put_of("12345678"))), Verdict::kGenuine);
    EXPECT_EQ(from_, kThird);
    third.sent(kSelf);
  }
}

TEST_P(ProofTest, ABatchIsGenuineOnce) {
  const std::string batch = signed_by(peer_, put_of("12345678"));
  EXPECT_EQ(check(batch), Verdict::kGenuine);
  EXPECT_EQ(check(batch), Verdict::kRefused);
}

TEST_P(ProofTest, ABatchBehindLostOnesIsAGap) {
  peer_.sent(kSelf);
  EXPECT_EQ(check(signed_by(peer_, put_of("12345678"))), Verdict::kGap);
  EXPECT_EQ(from_, kPeer);
}

TEST_P(ProofTest, ABatchOfAnotherJobIsRefused) {
  std::vector<Secret> others = secrets_;
  others[kThird][31] ^= 1;  // one bit of one node's
  EXPECT_EQ(check(signed_by(Proofs(others, kPeer, GetParam()), put_of("12345678"))),
            Verdict::kRefused);
}

TEST_P(ProofTest, ABatchThatWasSentToAnotherNodeIsRefused) {
  std::string batch = put_of("12345678");
  peer_.sign(kThird, std::as_writable_bytes(std::span(batch.data(), batch.size())));
  EXPECT_EQ(check(batch), Verdict::kRefused);
}

TEST_P(ProofTest, TheOwnBatchesAndTheirReflectionsAreRefused) {
  EXPECT_EQ(check(signed_by(checking_, put_of("12345678"))), Verdict::kRefused) << "to itself";
  std::string reflected = put_of("12345678");
  checking_.sign(kPeer, std::as_writable_bytes(std::span(reflected.data(), reflected.size())));
  EXPECT_EQ(check(reflected), Verdict::kRefused);
  const Node peer = kPeer;  // as if it were the peer's own
  std::memcpy(reflected.data() + offsetof(Prologue, from), &peer, sizeof peer);
  EXPECT_EQ(check(reflected), Verdict::kRefused);
}

TEST_P(ProofTest, ANodeThatTheJobDoesNotHaveIsRefused) {
  for (const Node node : {Node{3}, Node{1000}, fabric::kUnknownNode}) {
    std::string batch = signed_by(peer_, put_of("12345678"));
    std::memcpy(batch.data() + offsetof(Prologue, from), &node, sizeof node);
    EXPECT_EQ(check(batch), Verdict::kRefused) << node;
  }
}

TEST_P(ProofTest, ABatchOfAnotherLengthIsRefused) {
  const std::string batch = signed_by(peer_, put_of("12345678"));
  for (size_t bytes = 0; bytes < batch.size(); ++bytes)
    EXPECT_EQ(check(batch.substr(0, bytes)), Verdict::kRefused) << bytes;
  EXPECT_EQ(check(batch + "x"), Verdict::kRefused);
  EXPECT_EQ(check(batch), Verdict::kGenuine) << "what was refused has changed nothing";
}

TEST_P(ProofTest, EveryBitThatTheProofCoversCounts) {
  Header long_put = put_header();
  long_put.bytes = 1000;
  leave_open(long_put, 1000);
  const std::string first = RawBatch().add(long_put, std::string(1000, 'x')).bytes();
  const std::string both =
      RawBatch().add(long_put, std::string(1000, 'x')).add(put_header(), "12345678").bytes();
  for (const std::string& unsigned_batch : {put_of("12345678"), both}) {
    const std::string batch = signed_by(peer_, unsigned_batch);
    const auto is_covered = [&](size_t at) {
      const size_t control_end = sizeof(Prologue) + sizeof(Header) + kCoveredDataBytes;
      return GetParam() || batch.size() < 256 || at < control_end || at >= first.size();
    };
    for (size_t bit = 0; bit < 8 * batch.size(); ++bit) {
      if (!is_covered(bit / 8)) continue;
      std::string changed = batch;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
      ASSERT_EQ(check(changed), Verdict::kRefused) << "bit " << bit << " of " << batch.size();
    }
    EXPECT_EQ(check(batch), Verdict::kGenuine);
    peer_.sent(kSelf);
  }
}

TEST_P(ProofTest, WhereScatteredDataGoesIsCovered) {
  constexpr uint32_t kEntries = 20;
  std::string payload;
  for (uint64_t n = 0; n < kEntries; ++n)
    payload += plain_bytes(delegatee::Strided{64 * n, 8, 1, 0});
  payload.resize(payload.size() + 8 * kEntries, 'x');
  Header put = header_of(Kind::kPutPieces, static_cast<uint32_t>(payload.size()), kEntries);
  leave_open(put, 8 * kEntries);
  const std::string batch = signed_by(peer_, RawBatch().add(put, payload).bytes());
  for (size_t at = 0;
       at < sizeof(Prologue) + sizeof(Header) + kEntries * sizeof(delegatee::Strided); ++at) {
    std::string changed = batch;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_EQ(check(changed), Verdict::kRefused) << "byte " << at;
  }
  EXPECT_EQ(check(batch), Verdict::kGenuine);
}

// A layout of runs behind the announcement of a message, and whatever will be invented.
TEST_P(ProofTest, ARecordOfAnyKindIsCoveredToItsEndUnlessItsSenderSaysOtherwise) {
  const std::string payload(400, 'x');
  for (uint8_t kind = 0; kind <= kKinds; ++kind) {
    const Header header = header_of(static_cast<Kind>(kind), 400);
    const std::string batch =
        signed_by(peer_, RawBatch().add(header, payload).add(header, payload).bytes());
    for (size_t at = sizeof(Prologue); at < batch.size(); ++at) {
      std::string changed = batch;
      changed[at] = static_cast<char>(changed[at] ^ 0x10);
      ASSERT_EQ(check(changed), Verdict::kRefused) << "kind " << int{kind} << ", byte " << at;
    }
    EXPECT_EQ(check(batch), Verdict::kGenuine);
    peer_.sent(kSelf);
  }
}

TEST_P(ProofTest, WhatIsNoBatchOrNotTheNextOneIsNotHashed) {
  peer_.sent(kSelf);
  const std::string next = signed_by(peer_, put_of("12345678"));
  EXPECT_EQ(check(next), Verdict::kGap);
  const std::string long_one(kBatchMaxBytes, 'x');
  const uint64_t hashed = checking_.hashed();
  EXPECT_GT(hashed, 0u);
  const auto damaged = [&](auto damage) {
    std::string batch = next;
    Prologue prologue;
    std::memcpy(&prologue, batch.data(), sizeof prologue);
    damage(prologue);
    std::memcpy(batch.data(), &prologue, sizeof prologue);
    return batch;
  };
  for (const std::string& garbage :
       {long_one, std::string(), damaged([](Prologue& p) { ++p.magic; }),
        damaged([](Prologue& p) { ++p.version; }), damaged([](Prologue& p) { ++p.bytes; }),
        damaged([](Prologue& p) { p.records = kBatchMaxRecords + 1; }),
        damaged([](Prologue& p) { p.records = 2; }), damaged([](Prologue& p) { p.from = kSelf; }),
        damaged([](Prologue& p) { p.from = 3; })})
    EXPECT_EQ(check(garbage), Verdict::kRefused);
  EXPECT_EQ(checking_.hashed(), hashed);
}

TEST_P(ProofTest, ANumberThatWasUsedIsNotHashed) {
  const std::string batch = signed_by(peer_, put_of("12345678"));
  EXPECT_EQ(check(batch), Verdict::kGenuine);
  const uint64_t hashed = checking_.hashed();
  EXPECT_EQ(check(batch), Verdict::kRefused);
  EXPECT_EQ(checking_.hashed(), hashed);
}

// As long as nothing is known of them, records are walked over that lead anywhere.
TEST_P(ProofTest, RecordsThatLeadNowhereAreHashedToTheirEnd) {
  for (const uint32_t bytes : {0u, 1u, 999u, 1001u, 70000u, UINT32_MAX - 7, UINT32_MAX}) {
    Header header = put_header();
    header.bytes = bytes;
    header.open_bytes = 999;
    const std::string batch = RawBatch().add(header, std::string(1000, 'x')).bytes();
    EXPECT_EQ(check(signed_by(peer_, batch)), Verdict::kGenuine) << bytes;
    peer_.sent(kSelf);
  }
}

INSTANTIATE_TEST_SUITE_P(, ProofTest, testing::Bool(), [](const auto& covers_data) {
  return std::string(covers_data.param ? "OfTheBatch" : "OfWhatControls");
});

// ---- while two nodes exchange data -------------------------------------------------------------

// Over nodes 0 and 1, and an endpoint that belongs to none of them.
class Strangers : public testing::Test {
 protected:
  Strangers() : network_(3) {
    auto endpoints = fabric::open_all(network_, 3);
    stranger_ = std::move(endpoints[2]);
    endpoints.pop_back();
    fleet_.emplace(std::move(endpoints), Options{});
    region_ = (*fleet_)[1].regions.add(0, memory_.data(), memory_.size());
  }

  void say(const std::string& bytes) {
    ASSERT_TRUE(stranger_->try_send(1, bytes.data(), bytes.size(), 1));
    fleet_->round();
    fabric::Event events[16];
    stranger_->poll(events);
  }
  // Node 0 writes to node 1 and reads it back.
  void exchange(unsigned seed) {
    Bytes out = pattern(64, seed), back(64);
    Flag written, read;
    (*fleet_)[0].push(0, flagged(transfer(Op::kPut, {1, 0, region_}, out.data(), 64), written));
    (*fleet_)[0].push(0, flagged(transfer(Op::kGet, {1, 0, region_}, back.data(), 64), read));
    ASSERT_TRUE(soon([&] {
      fleet_->round();
      return written.now() != 0 && read.now() != 0;
    }));
    EXPECT_EQ(written.now(), 1);
    EXPECT_EQ(read.now(), 1);
    EXPECT_TRUE(back == out);
  }

  fabric::LoopbackNetwork network_;
  std::unique_ptr<fabric::Fabric> stranger_;
  std::optional<Fleet> fleet_;
  Bytes memory_ = pattern(64, 0);
  uint32_t region_ = 0;
};

TEST_F(Strangers, ChangeNoByteAndBreakNoLink) {
  const std::string put = put_of("STRANGER");
  const Proofs other_job(std::vector<Secret>(2), 0, false), as_self(secrets_of(2), 1, false);
  std::string own_node = put, replayed, lost = put;
  as_self.sign(1, std::as_writable_bytes(std::span(own_node.data(), own_node.size())));
  std::string wrong_secret = put;
  other_job.sign(1, std::as_writable_bytes(std::span(wrong_secret.data(), wrong_secret.size())));
  replayed = put;  // node 0's first batch was another one: the number has been used
  const Proofs first(secrets_of(2), 0, false);
  first.sign(1, std::as_writable_bytes(std::span(replayed.data(), replayed.size())));
  std::string wrong_number = replayed;
  wrong_number[offsetof(Prologue, number)] = 100;
  exchange(1);
  uint64_t refused = 0;
  for (unsigned n = 0; n < 3; ++n)
    for (const std::string& message :
         {put, wrong_secret, own_node, replayed, wrong_number, replayed.substr(0, 40),
          std::string("GET / HTTP/1.1\r\n\r\n"), std::string()}) {
      const Bytes before = memory_;
      say(message);
      EXPECT_TRUE(memory_ == before) << refused;
      EXPECT_EQ((*fleet_)[1].delegatee.refused(), ++refused);
      exchange(static_cast<unsigned>(refused));
    }
  EXPECT_EQ((*fleet_)[0].delegatee.refused(), 0u);
}

}  // namespace
}  // namespace nagaya::delegatee
