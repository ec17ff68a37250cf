// SPDX-License-Identifier: BSD-3-Clause
// proof.h - how a delegatee knows that a batch is from a delegatee of its own job, and the next one
// from that sender. Any program that reaches the endpoint can send it a message: nothing of a
// message is used before it has passed check().
//
//   every node draws a secret, which travels with its address by way of the launcher (contact.h)
//   secrets of all nodes ──BLAKE2b──► key of the job ──BLAKE2b, from, to──► keys of one direction
//
//   proof = SipHash-2-4 (the fields before it in the prologue, SipHash-2-4 (records))
//
// The sequence numbers of a direction count from 0. So a proof is good for one message, once; a
// stranger that sees it learns nothing about the proof of the next message. A stranger that holds a
// message back may change the bytes that the proof does not cover, and pass the message on. The
// proof covers everything but the user's data that a record leaves open (batch.h).
// NAGAYA_PROOF=batch lets it cover these, too (decision 12).
//
// The checks, in this order. The first three cost nothing and prove nothing; a stranger's garbage
// fails one of them, and costs no hash.
//
//   | the fault                                          | verdict   | the delegatee             |
//   | shorter than a prologue; magic, version, length;   |           |                           |
//   |   more records than a batch has, or than fit       |           |                           |
//   | the sender is no other node of the job             | kRefused  | drops it and counts it    |
//   | an earlier number                                  |           |                           |
//   | the proof                                          |           |                           |
//   | a later number: messages before it were lost       | kGap      | the link has failed       |
//
// Thread safety: none; the delegatee's thread.
// Source: Aumasson, Bernstein: SipHash, a fast short-input PRF (2012); by libsodium.
#pragma once

#include <sodium/crypto_shorthash_siphash24.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "delegatee/batch.h"
#include "delegatee/contact.h"
#include "fabric/fabric.h"

namespace nagaya::delegatee {

using fabric::Node;

enum class Verdict : uint8_t { kGenuine, kRefused, kGap };

class Proofs {
 public:
  // `secrets`: of all nodes, in their order. `covers_data`: the same on all nodes.
  Proofs(std::span<const Secret> secrets, Node self, bool covers_data);

  // Adds sender, sequence number and proof to a batch for the node. sent() moves on to the next
  // number.
  void sign(Node to, std::span<std::byte> batch) const;
  void sent(Node to) { ++outgoing_[to].number; }

  // Sets `from` to the sender, unless the message is refused.
  Verdict check(std::span<const std::byte> message, Node& from);
  // Number of messages that check() has hashed. For tests.
  uint64_t hashed() const { return hashed_; }

 private:
  using Key = std::array<unsigned char, crypto_shorthash_siphash24_KEYBYTES>;
  struct Direction {
    Key of_proof, of_records;
    uint64_t number = 0;  // of the next message
  };

  uint64_t proof_of(const Prologue& prologue, std::span<const std::byte> records,
                    const Direction& direction) const;
  uint64_t hash_of(std::span<const std::byte> records, uint16_t count, const Key& key) const;

  const Node self_;
  const bool covers_data_;
  std::vector<Direction> outgoing_, incoming_;  // by node
  uint64_t hashed_ = 0;
};

}  // namespace nagaya::delegatee
