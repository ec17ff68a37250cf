// SPDX-License-Identifier: BSD-3-Clause
// batch.h - the messages between two delegatees: one fabric message is one batch of records.
//
//   | Prologue 32 | Header 32 | payload, padded to 8 | Header 32 | payload | ...
//
//   payload = control ── kCoveredDataBytes of the data ──│── the rest of the data: `open_bytes`
//             └─────────── covered by the proof ─────────┘   a stranger on the way may change it
//
// The proof covers a whole record unless its sender calls leave_open(), which says that the payload
// ends with user data. kForms (batch.cc) says which kinds may leave data open, and which bytes are
// control data in any case.
//
// Requests carry a tag, which the answer repeats. A message may be from anybody until
// Proofs::check() has accepted it (proof.h). Then parse() checks its form; the code that carries
// out a record checks its meaning (regions, ranges, tags). Numbers are in the byte order of the
// node: a batch in another byte order fails by the magic number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "llcl/board/command.h"

namespace nagaya::delegatee {

inline constexpr uint32_t kBatchMagic = 0x4e474241;
inline constexpr uint16_t kBatchVersion = 4;
inline constexpr size_t kBatchMaxBytes = 32 << 10;
inline constexpr uint16_t kBatchMaxRecords = 64;
// Limits of a node's credit: its unanswered requests at one other node, and their bytes. A request
// beyond them breaks the protocol, so the memory for requests that cannot be answered at once is
// bounded.
inline constexpr uint32_t kCreditMaxCommands = 4096;
inline constexpr size_t kCreditMaxBytes = 1 << 20;
// Largest active message [bytes]: the receiving node holds all of it in memory.
inline constexpr uint64_t kMessageMaxBytes = llcl::kActiveMessageMaxBytes;

enum class Kind : uint8_t {
  kPut,        // payload -> place                                 answer: status
  kGet,        // `argument` bytes from place                      answer: status, the bytes
  kAtomic,     // payload: operand, expected; on place             answer: status, the word before
  kMessage,    // payload -> handler `region` of the task, from task `argument`: the next part of a
               // message of `offset` bytes in all                 answer: status
  kCancel,     // the sender will not send the rest of its unfinished message
  kRegion,     // asks for the fabric's name of this region        answer: status, fabric::Region
  kEnded,      // the sender's region has ended: forget the fabric's name of it
  kProbe,      // asks whether the node lives                      answer: kAlive
  kAlive,      // the sender lives; sent unasked, too
  kAnswer,     // to `tag`; `argument`: status, 0 or a negative errno; `region`: 1 if the task that
               // a message was for has a backlog, else 0
  kPutNotify,  // payload: Counter, data -> place; then 1 is added to the counter
               //                                                answer: status
  kPutPieces,  // payload: `argument` Strided (batch_strided.h), their blocks -> the region
               //                                                answer: status
  kGetPieces,  // payload: `argument` Strided                    answer: status, their blocks
  kUnused,     // the sender no longer uses this region: its registration may end
  // payload: `argument` Strided of whole elements, then the operands in their order (of NO_OP
  // none); on the region. Answer: status
  kAccumulate,
  // as kAccumulate. Answer: status, the elements from before, in their order
  kGetAccumulate,
  // payload: Operands; on the word of `argument` bytes at place. Answer: status, the word before
  kCompareSwap,
  // payload: LentOperands; on `argument` bytes of elements at place. The target reads as many bytes
  // of operands.                                                 Answer: status
  kAccumulateLent,
};
inline constexpr uint8_t kKinds = static_cast<uint8_t>(Kind::kAccumulateLent) + 1;

// Whether records of this kind take effect in the order in which their node has sent them.
inline bool keeps_order(Kind kind) {
  return kind == Kind::kAccumulate || kind == Kind::kGetAccumulate || kind == Kind::kCompareSwap ||
         kind == Kind::kAccumulateLent;
}
// True if such a record brings operands, or asks for elements, in its batch.
inline bool is_accumulate(Kind kind) {
  return kind == Kind::kAccumulate || kind == Kind::kGetAccumulate;
}
// True if the payload of this kind begins with `argument` Strided.
inline bool has_entries(Kind kind) {
  return kind == Kind::kPutPieces || kind == Kind::kGetPieces || is_accumulate(kind);
}

struct Prologue {
  uint32_t magic;
  uint16_t version;
  uint16_t records;
  uint32_t bytes;   // of the whole batch
  uint32_t from;    // the sending node
  uint64_t number;  // sequence number, of batches from that node to this one
  uint64_t proof;   // shows that `from` has sent it: proof.h
};
static_assert(sizeof(Prologue) == 32);

struct Header {
  Kind kind;
  uint8_t operation;  // llcl::Atomic; of an accumulate nagaya_reduction; else 0
  uint8_t type;       // llcl::Type; of an accumulate nagaya_element_type; else 0
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

// The proof covers so many bytes of user data in any case: a hash of so few costs nothing, and they
// include flags and short messages.
inline constexpr size_t kCoveredDataBytes = 64;

// Marks the last `data_bytes` of the payload as user data: the proof need cover only the first
// kCoveredDataBytes of them.
inline void leave_open(Header& header, size_t data_bytes) {
  header.open_bytes =
      static_cast<uint16_t>(data_bytes > kCoveredDataBytes ? data_bytes - kCoveredDataBytes : 0);
}

struct Operands {
  uint64_t operand;
  uint64_t expected;
};

// Where the counter of kPutNotify is: a uint64_t in a region of the target task.
struct Counter {
  uint64_t offset;
  uint32_t region;
  uint32_t zero;
};
static_assert(sizeof(Counter) == 16);

// The operands of a kAccumulateLent: memory of the requester, registered until the answer.
struct LentOperands {
  fabric::Region region;
  uint64_t offset;  // in the region
};
static_assert(sizeof(LentOperands) == 32);
// The most operands of one record [bytes].
inline constexpr uint32_t kLentMaxBytes = 256 << 10;

constexpr size_t record_bytes(size_t payload_bytes) {
  return sizeof(Header) + ((payload_bytes + 7) & ~size_t{7});
}
inline constexpr size_t kPayloadMaxBytes = kBatchMaxBytes - sizeof(Prologue) - sizeof(Header);
static_assert(kPayloadMaxBytes <= UINT16_MAX);  // Header::open_bytes

// True if the prologue fits a batch of `bytes` bytes. The check costs nothing, and proves nothing.
constexpr bool is_plausible(const Prologue& prologue, size_t bytes) {
  return prologue.magic == kBatchMagic && prologue.version == kBatchVersion &&
         prologue.bytes == bytes && bytes <= kBatchMaxBytes &&
         prologue.records <= kBatchMaxRecords &&
         bytes - sizeof prologue >= prologue.records * sizeof(Header);
}

class Batch {
 public:
  // Returns a batch, which refers to `message`; nothing if the message is malformed.
  static std::optional<Batch> parse(std::span<const std::byte> message);

  // Calls visit(header, payload) for each record in order, until a call returns false. Returns true
  // if all calls returned true.
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
