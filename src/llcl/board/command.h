// SPDX-License-Identifier: BSD-3-Clause
// command.h - a command of a task to its node's delegatee: one cell of a lane, 64 bytes.
//
//   0         4         8         12        16                  24                  32
//   | op etc. | node    | tasks   | region  | remote offset     | completion        |
//   | local address     | bytes             | counter           | its region        |    block, or
//   | address of before | type              | operand           | expected          |    word, or
//   | address of pieces | how many          |                                            pieces, or
//   | address of origin | of result         | of runs           | count, type, ...  | elements, or
//   | up to 32 bytes                                                                |    payload
//                                                                                   64
//
// Written by the requester, read by the delegatee; plain data. Local addresses are plain pointers:
// the delegatee lives in the same space. They stay valid until the completion.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "layout/pieces.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

enum class Op : uint8_t {
  kGet,            // remote memory to local memory
  kPut,            // local memory, or the payload, to remote memory
  kAtomic,         // on one remote word; the value before it goes to `before` unless that is 0
  kActiveMessage,  // a handler of the remote task, with local memory or the payload
  kFence,          // completes when all earlier commands of this lane to `node` have
  kPutNotify,      // as kPut, never inline; then 1 is added to a counter of the remote task
  kGetPieces,      // as kGet, for all `pieces`; `offset` is added to that of each piece
  kPutPieces,      // as kPut, for all `pieces`; `offset` is added to that of each piece
  kAccumulate,     // an operation of the floor reduction on `elements`
  kCompareSwap,    // on one remote word of any alignment, atomic against accumulates
  kAtomicBehind,   // as kAtomic, once all earlier commands of this lane to `node` have taken effect
};
inline constexpr size_t kOps = size_t(Op::kAtomicBehind) + 1;

enum class Atomic : uint8_t {
  kAdd,
  kSwap,
  kCompareSwap,
  kAnd,
  kOr,
  kXor,
  kMin,
  kMax,
};

enum class Type : uint8_t { kInt32, kInt64, kUint32, kUint64, kFloat, kDouble };

// How the delegatee of the requester's node reports that the command is complete.
enum class Completion : uint8_t {
  kNone,
  kFlag,      // the uint32_t at `completion` becomes 1 or an errno (complete_flag)
  kCounter,   // the uint64_t at `completion` counts it (count_completions)
  kCallback,  // the Request at `completion` is posted to the requester's mailbox
};

// Sets the flag to 1, or to the negative errno `error`. Release: the request's data are there
// before the flag; the requester acquires.
inline void complete_flag(uint32_t* flag, int error) {
  std::atomic_ref(*flag).store(error == 0 ? 1 : static_cast<uint32_t>(error),
                               std::memory_order_release);
}

// Adds `completions` to the counter. Release: the requests' data are there before the count; the
// requester acquires. The mark of a failure is there before the count that includes it.
inline void count_completions(uint64_t* counter, uint64_t completions, bool has_failed) {
  std::atomic_ref<uint64_t> count(*counter);
  if (has_failed) [[unlikely]]
    count.fetch_or(NAGAYA_COUNTER_FAILED, std::memory_order_relaxed);
  count.fetch_add(completions, std::memory_order_release);
}

inline constexpr uint32_t kInlineMaxBytes = 32;
inline constexpr uint64_t kActiveMessageMaxBytes = NAGAYA_LLCL_MESSAGE_MAX;

using layout::Piece;

struct Command {
  struct Block {
    uint64_t local;  // address
    uint64_t bytes;
    uint64_t counter_offset;  // kPutNotify, at the remote task
    uint64_t counter_region;
  };
  struct Word {
    uint64_t before;    // address, or 0
    uint64_t type;      // of an atomic: Type; kCompareSwap: the word's size [bytes]
    uint64_t operand;   // in its low bytes
    uint64_t expected;  // of a compare-and-swap
  };
  struct Pieces {
    uint64_t local;  // address of the first Piece
    uint64_t count;
  };
  struct Elements {
    static constexpr uint64_t kCountMax = (uint64_t{1} << 48) - 1;

    // `what`: of enumerators, and of at most kCountMax elements.
    static Elements of(const nagaya_llcl_accumulation& what) {
      return {reinterpret_cast<uint64_t>(what.origin),
              reinterpret_cast<uint64_t>(what.result),
              reinterpret_cast<uint64_t>(what.target_runs),
              what.count & kCountMax,
              static_cast<uint8_t>(what.type),
              static_cast<uint8_t>(what.operation)};
    }

    uint64_t origin;  // address, or 0: no operand
    uint64_t result;  // address, or 0
    // Address of the nagaya_runs in which the elements lie at the remote task, from `offset` on; 0:
    // they lie side by side.
    uint64_t runs;
    uint64_t count : 48;
    uint64_t type : 8;       // nagaya_element_type
    uint64_t operation : 8;  // nagaya_reduction
  };
  union Data {
    Block block;                             // kGet, kPut, kPutNotify, kActiveMessage
    Word word;                               // kAtomic, kAtomicBehind, kCompareSwap
    Pieces pieces;                           // kGetPieces, kPutPieces
    Elements elements;                       // kAccumulate
    unsigned char payload[kInlineMaxBytes];  // kPut, kActiveMessage: in place of a block
  };

  Op op;
  Completion completion_kind;
  uint8_t inline_bytes;  // bytes in `payload`; 0: another member of `data` is used
  Atomic atomic;         // of an atomic only
  uint32_t node;
  uint16_t task;       // at that node
  uint16_t requester;  // at this node: it gets the completion
  uint32_t region;     // registration number at that node; kActiveMessage: the handler
  uint64_t offset;  // in the region; kActiveMessage: size of the user's data at the message's end,
                    // which a proof may leave open (delegatee/batch.h); 0: none, as in a receipt
                    // [bytes]
  uint64_t completion;
  Data data;

  // ---- for the delegatee, which does not trust the fields ----

  bool may_be_inline() const { return op == Op::kPut || op == Op::kActiveMessage; }
  bool has_pieces() const { return op == Op::kGetPieces || op == Op::kPutPieces; }
  // Whether it is sent portion by portion.
  bool is_in_portions() const { return has_pieces() || op == Op::kAccumulate; }
  // Whether it takes effect in the order in which its thread has made such commands.
  bool keeps_order() const { return op == Op::kAccumulate || op == Op::kCompareSwap; }
  bool is_atomic() const { return op == Op::kAtomic || op == Op::kAtomicBehind; }
  bool has_word() const { return is_atomic() || op == Op::kCompareSwap; }
  // Whether data.pieces is an array that fits into the address space.
  bool pieces_are_possible() const {
    const Pieces& all = data.pieces;
    return all.count == 0 ||
           (all.local != 0 && all.count <= (UINT64_MAX - all.local) / sizeof(Piece));
  }
  // The task's memory that a command with a block reads or fills.
  std::byte* local() const { return reinterpret_cast<std::byte*>(data.block.local); }
  // Returns the size of the block or the payload; 0 if the command has neither [bytes].
  uint64_t bytes() const {
    if (has_word() || op == Op::kFence || is_in_portions()) return 0;
    return inline_bytes != 0 ? inline_bytes : data.block.bytes;
  }
  // Returns the size of the user's data at the end of an active message [bytes]. If a task claims
  // more than the message has, all of it is user data.
  uint64_t user_bytes() const { return std::min(offset, bytes()); }
  Type type() const { return static_cast<Type>(data.word.type); }
};
static_assert(sizeof(Command) == 64);

}  // namespace nagaya::llcl
