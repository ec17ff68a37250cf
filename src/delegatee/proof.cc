// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/proof.h"

#include <sodium/core.h>
#include <sodium/crypto_generichash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace nagaya::delegatee {
namespace {

constexpr unsigned char kPurpose[] = "nagaya batches";
constexpr size_t kShortRecordBytes = 128;  // up to this average one hash of all bytes costs less

using JobKey = std::array<unsigned char, crypto_generichash_BYTES>;

JobKey job_key_of(std::span<const Secret> secrets) {
  crypto_generichash_state state;
  JobKey key;
  crypto_generichash_init(&state, nullptr, 0, key.size());
  crypto_generichash_update(&state, kPurpose, sizeof kPurpose);
  for (const Secret& secret : secrets)
    crypto_generichash_update(&state, secret.data(), secret.size());
  crypto_generichash_final(&state, key.data(), key.size());
  return key;
}

// Bytes at the beginning of a record that its proof covers: all but the data that its header leaves
// open. The header may be a stranger's: if open_bytes is more than the payload, all is covered.
uint64_t covered_bytes(const Header& header) {
  const uint64_t open = header.open_bytes <= header.bytes ? header.open_bytes : 0;
  return sizeof header + header.bytes - open;
}

uint64_t siphash(const void* data, size_t bytes, const unsigned char* key) {
  uint64_t hash;
  static_assert(sizeof hash == crypto_shorthash_siphash24_BYTES);
  crypto_shorthash_siphash24(reinterpret_cast<unsigned char*>(&hash),
                             static_cast<const unsigned char*>(data), bytes, key);
  return hash;
}

}  // namespace

Proofs::Proofs(std::span<const Secret> secrets, Node self, bool covers_data)
    : self_(self), covers_data_(covers_data) {
  if (::sodium_init() < 0) throw base::Error(-ENOSYS, "libsodium does not work on this machine");
  const JobKey job_key = job_key_of(secrets);
  const auto direction = [&](Node from, Node to) {
    const Node ends[] = {from, to};
    unsigned char keys[2 * crypto_shorthash_siphash24_KEYBYTES];
    crypto_generichash(keys, sizeof keys, reinterpret_cast<const unsigned char*>(ends), sizeof ends,
                       job_key.data(), job_key.size());
    Direction made;
    std::memcpy(made.of_proof.data(), keys, made.of_proof.size());
    std::memcpy(made.of_records.data(), keys + made.of_proof.size(), made.of_records.size());
    return made;
  };
  for (Node node = 0; node < secrets.size(); ++node) {
    outgoing_.push_back(direction(self, node));
    incoming_.push_back(direction(node, self));
  }
}

uint64_t Proofs::proof_of(const Prologue& prologue, std::span<const std::byte> records,
                          const Direction& direction) const {
  struct {
    std::byte head[offsetof(Prologue, proof)];
    uint64_t records;
  } covered;
  std::memcpy(covered.head, &prologue, sizeof covered.head);
  covered.records = hash_of(records, prologue.records, direction.of_records);
  return siphash(&covered, sizeof covered, direction.of_proof.data());
}

// Hashes all bytes of a batch with short records; else only the bytes that the records do not leave
// open, record by record, each chained with the hash before it. The records are unverified: they
// may hold anything.
uint64_t Proofs::hash_of(std::span<const std::byte> records, uint16_t count, const Key& key) const {
  if (covers_data_ || records.size() <= count * kShortRecordBytes)
    return siphash(records.data(), records.size(), key.data());
  struct {
    uint64_t before, record;
  } hashes{};
  while (records.size() >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, records.data(), sizeof header);
    const uint64_t bytes = std::min<uint64_t>(covered_bytes(header), records.size());
    hashes.record = siphash(records.data(), bytes, key.data());
    hashes.before = siphash(&hashes, sizeof hashes, key.data());
    records = records.subspan(std::min(record_bytes(header.bytes), records.size()));
  }
  return hashes.before;
}

void Proofs::sign(Node to, std::span<std::byte> batch) const {
  const Direction& direction = outgoing_[to];
  Prologue prologue;
  std::memcpy(&prologue, batch.data(), sizeof prologue);
  prologue.from = self_;
  prologue.number = direction.number;
  prologue.proof = proof_of(prologue, batch.subspan(sizeof prologue), direction);
  std::memcpy(batch.data(), &prologue, sizeof prologue);
}

Verdict Proofs::check(std::span<const std::byte> message, Node& from) {
  Prologue prologue;
  if (message.size() < sizeof prologue) return Verdict::kRefused;
  std::memcpy(&prologue, message.data(), sizeof prologue);
  if (!is_plausible(prologue, message.size()) || prologue.from >= incoming_.size() ||
      prologue.from == self_)
    return Verdict::kRefused;
  Direction& direction = incoming_[prologue.from];
  if (prologue.number < direction.number) return Verdict::kRefused;
  ++hashed_;
  // Proofs are compared as words: the time does not tell where they differ.
  if (proof_of(prologue, message.subspan(sizeof prologue), direction) != prologue.proof)
    return Verdict::kRefused;
  from = prologue.from;
  if (prologue.number > direction.number) return Verdict::kGap;
  ++direction.number;
  return Verdict::kGenuine;
}

}  // namespace nagaya::delegatee
