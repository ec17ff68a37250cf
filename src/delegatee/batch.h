// SPDX-License-Identifier: BSD-3-Clause
// batch.h - the messages between two delegatees: one fabric message is one batch of records.
//
//   | Prologue 32 | Header 32 | payload, padded to 8 | Header 32 | payload | ...
//
//   payload = control ── kCoveredDataBytes of the data ──│── the rest of the data: `open_bytes`
//             └─────────── covered by the proof ─────────┘   a stranger on the way may change it
//
// A record is covered whole unless its sender says by leave_open() that its payload ends with data
// of the user; kForms (batch.cc) says which kinds may, and what is control in any case. A kind
// whose sender does not call leave_open() is covered whole.
//
// Requests carry a tag, which the answer repeats. A message is anybody's until Proofs::check() has
// accepted it (proof.h). Then parse() checks its form; its meaning (regions, ranges, tags) is still
// to be checked by whoever acts on it. Numbers are in the byte order of the node: another one fails
// by the magic number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "llcl/command.h"

namespace nagaya::delegatee {

inline constexpr uint32_t kBatchMagic = 0x4e474241;
inline constexpr uint16_t kBatchVersion = 3;
inline constexpr size_t kBatchMaxBytes = 32 << 10;
inline constexpr uint16_t kBatchMaxRecords = 64;
// A node's credit: so much it may ask of another before it is answered. More is malformed, so the
// memory for requests that cannot be answered at once is bounded.
inline constexpr uint32_t kCreditMaxCommands = 4096;
inline constexpr size_t kCreditMaxBytes = 1 << 20;
// Of an active message: the receiving node holds it in its memory.
inline constexpr uint64_t kMessageMaxBytes = llcl::kActiveMessageMaxBytes;

enum class Kind : uint8_t {
  kPut,        // payload -> place                                 answer: status
  kGet,        // `argument` bytes from place                      answer: status, the bytes
  kAtomic,     // payload: operand, expected; on place             answer: status, the word before
  kMessage,    // payload -> handler `region` of the task, from task `argument`: the next part of a
               // message of `offset` bytes in all                 answer: status
  kCancel,     // the rest of that message will not come
  kRegion,     // asks for the fabric's name of this region        answer: status, fabric::Region
  kEnded,      // forget the fabric's name of this region
  kProbe,      // are you there                                    then: kAlive
  kAlive,      // this node lives: also unasked
  kAnswer,     // to `tag`; `argument`: status, 0 or a negative errno; `region`: 1 if the task that
               // a message was for has a backlog, else 0
  kPutNotify,  // payload: Counter, data -> place; then 1 is added to the counter
               //                                                answer: status
  kPutPieces,  // payload: `argument` Strided (batch_strided.h), their blocks -> the region
               //                                                answer: status
  kGetPieces,  // payload: `argument` Strided                    answer: status, their blocks
  kUnused,     // the sender uses this region no longer: its registration may end
};
inline constexpr uint8_t kKinds = static_cast<uint8_t>(Kind::kUnused) + 1;

// Whether the payload begins with `argument` Strided.
inline bool has_entries(Kind kind) {
  return kind == Kind::kPutPieces || kind == Kind::kGetPieces;
}

struct Prologue {
  uint32_t magic;
  uint16_t version;
  uint16_t records;
  uint32_t bytes;   // of the whole batch
  uint32_t from;    // the node
  uint64_t number;  // of the batches of that node to this one
  uint64_t proof;   // that it is from there: proof.h
};
static_assert(sizeof(Prologue) == 32);

struct Header {
  Kind kind;
  uint8_t atomic;  // llcl::Atomic, else 0
  uint8_t type;    // llcl::Type, else 0
  uint8_t zero;
  uint32_t tag;
  uint32_t bytes;  // of the payload
  uint32_t argument;
  uint16_t task;
  uint16_t open_bytes;  // at the end of the payload: data that no proof need cover
  uint32_t region;
  uint64_t offset;
};
static_assert(sizeof(Header) == 32);

// Data are covered up to here, for a hash of so few bytes costs nothing: flags, short messages.
inline constexpr size_t kCoveredDataBytes = 64;

// Says that the payload ends with `data_bytes` of the user's.
inline void leave_open(Header& header, size_t data_bytes) {
  header.open_bytes =
      static_cast<uint16_t>(data_bytes > kCoveredDataBytes ? data_bytes - kCoveredDataBytes : 0);
}

struct Operands {
  uint64_t operand;
  uint64_t expected;
};

// A uint64_t in a region of the task.
struct Counter {
  uint64_t offset;
  uint32_t region;
  uint32_t zero;
};
static_assert(sizeof(Counter) == 16);

constexpr size_t record_bytes(size_t payload_bytes) {
  return sizeof(Header) + ((payload_bytes + 7) & ~size_t{7});
}
inline constexpr size_t kPayloadMaxBytes = kBatchMaxBytes - sizeof(Prologue) - sizeof(Header);
static_assert(kPayloadMaxBytes <= UINT16_MAX);  // Header::open_bytes

// Whether the prologue is one of a batch of so many bytes. It costs nothing, and proves nothing.
constexpr bool is_plausible(const Prologue& prologue, size_t bytes) {
  return prologue.magic == kBatchMagic && prologue.version == kBatchVersion &&
         prologue.bytes == bytes && bytes <= kBatchMaxBytes &&
         prologue.records <= kBatchMaxRecords &&
         bytes - sizeof prologue >= prologue.records * sizeof(Header);
}

class Batch {
 public:
  // Nothing: malformed. The batch refers to `message`.
  static std::optional<Batch> parse(std::span<const std::byte> message);

  // visit(header, payload) for each record, in order, while it answers true; whether all did.
  template <class Visit>
  bool for_each(Visit visit) const {
    for (size_t at = sizeof(Prologue); at < message_.size();) {
      Header header;
      std::memcpy(&header, message_.data() + at, sizeof header);
      if (!visit(header, message_.subspan(at + sizeof header, header.bytes))) return false;
      at += record_bytes(header.bytes);
    }
    return true;
  }

 private:
  explicit Batch(std::span<const std::byte> message) : message_(message) {}
  std::span<const std::byte> message_;
};

}  // namespace nagaya::delegatee
