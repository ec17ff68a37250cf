// SPDX-License-Identifier: BSD-3-Clause
// proof_target.h - a node of the job signs a batch of any records; somebody on the way alters one
// byte of it and passes it on. It must be refused, or differ in nothing but data of the user.
//
//   input: | position of the altered byte, 4 | its change, 1 | unused, 3 | batch
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "delegatee/batch.h"
#include "delegatee/batch_strided.h"
#include "delegatee/proof.h"

namespace nagaya::fuzz {

using namespace nagaya::delegatee;

// The data of the user in a record's payload begin here; of kinds without data, at its end. Written
// apart from the code under test.
inline size_t control_end(const Header& header) {
  switch (header.kind) {
    case Kind::kPut:
    case Kind::kMessage:
    case Kind::kAnswer:
      return 0;
    case Kind::kPutNotify:
      return sizeof(Counter);
    case Kind::kPutPieces:
      return header.argument * sizeof(Strided);
    default:
      return header.bytes;
  }
}

// Whether the byte at `position` of a sound batch is data that its sender has left open, or
// padding.
inline bool is_data(const std::string& batch, size_t position) {
  for (size_t at = sizeof(Prologue); at + sizeof(Header) <= position;) {
    Header header;
    std::memcpy(&header, batch.data() + at, sizeof header);
    const size_t control = std::max<size_t>(control_end(header), header.bytes - header.open_bytes);
    if (position < at + record_bytes(header.bytes)) return position - at - sizeof header >= control;
    at += record_bytes(header.bytes);
  }
  return false;
}

inline void alter_signed_batch(const uint8_t* data, size_t bytes) {
  struct {
    uint32_t position;
    uint8_t change;
    uint8_t unused[3];
  } alteration;
  if (bytes < sizeof alteration + sizeof(Prologue)) return;
  std::memcpy(&alteration, data, sizeof alteration);
  std::string batch(reinterpret_cast<const char*>(data) + sizeof alteration,
                    std::min(bytes - sizeof alteration, kBatchMaxBytes));
  Prologue prologue;
  std::memcpy(&prologue, batch.data(), sizeof prologue);
  prologue = {
      kBatchMagic, kBatchVersion, prologue.records, static_cast<uint32_t>(batch.size()), 1, 0, 0};
  const size_t records_max = (batch.size() - sizeof prologue) / sizeof(Header);
  prologue.records = static_cast<uint16_t>(
      std::min({size_t{prologue.records}, records_max, size_t{kBatchMaxRecords}}));
  std::memcpy(batch.data(), &prologue, sizeof prologue);

  static const Secret secrets[2] = {};
  for (const bool covers_data : {false, true}) {
    Proofs receiver(secrets, 0, covers_data);
    const Proofs sender(secrets, 1, covers_data);
    sender.sign(0, std::as_writable_bytes(std::span(batch.data(), batch.size())));
    const auto view = [](const std::string& text) {
      return std::as_bytes(std::span(text.data(), text.size()));
    };
    std::string altered = batch;
    const size_t position = alteration.position % batch.size();
    altered[position] = static_cast<char>(altered[position] ^ alteration.change);
    fabric::Node from;
    if (alteration.change != 0 && receiver.check(view(altered), from) != Verdict::kRefused) {
      if (covers_data) std::abort();
      const bool is_sound = Batch::parse(view(batch)).has_value();
      if (is_sound != Batch::parse(view(altered)).has_value()) std::abort();
      if (is_sound && !is_data(batch, position)) std::abort();
      continue;  // its number is used
    }
    if (receiver.check(view(batch), from) != Verdict::kGenuine || from != 1) std::abort();
    if (receiver.check(view(batch), from) != Verdict::kRefused) std::abort();
  }
}

}  // namespace nagaya::fuzz
