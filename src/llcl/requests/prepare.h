// SPDX-License-Identifier: BSD-3-Clause
// prepare.h - a transfer, checked and ready to be started: nagaya_llcl_prepared.
//
//   way    to, from                  command      started by
//   WORD   remote and local memory   -            the caller, inline: one store
//   COPY   the same                  -            the caller, inline
//   ADD    remote word, -            operand      the caller, inline
//   CALL   the same                  an atomic's  the caller, in the library
//   LANE   -, local memory           the cell     a push of the cell into the thread's lane; at
//                                                 each start up to 32 bytes are put into it
#pragma once

#include <cerrno>

#include "llcl/requests/endpoint.h"
#include "llcl/requests/refusal.h"

namespace nagaya::llcl {

// The longest copy that the program makes inline. A longer copy costs so much more than a call of
// the library that the call does not matter.
inline constexpr size_t kInlineCopyMaxBytes = 4096;

// ---- a command, written into its cell of a lane: these functions only store into it ----

// Sets all of `out`: `op` on `place`, everything else 0.
inline void set_place(Command* out, Op op, const nagaya_remote& place) {
  *out = {};
  out->op = op;
  out->node = place.process.node;
  out->task = static_cast<uint16_t>(place.process.task);
  out->region = place.region;
  out->offset = place.offset;
}
// Returns whether the command itself carries the data.
inline bool is_inline(Op op, uint64_t bytes) {
  return (op == Op::kPut || op == Op::kActiveMessage) && bytes != 0 && bytes <= kInlineMaxBytes;
}
// Writes all of the command but an inline payload. `counter`: of a kPutNotify, or nullptr.
inline void describe(Op op, const nagaya_llcl_transfer& transfer, const nagaya_remote* counter,
                     Command* out) {
  set_place(out, op, transfer.remote);
  if (is_inline(op, transfer.bytes)) {
    out->inline_bytes = static_cast<uint8_t>(transfer.bytes);
  } else {
    out->data.block.local = reinterpret_cast<uint64_t>(transfer.local);
    out->data.block.bytes = transfer.bytes;
  }
  if (counter != nullptr) {
    out->data.block.counter_offset = counter->offset;
    out->data.block.counter_region = counter->region;
  }
}
// `op`: kAtomic, kAtomicBehind.
inline void describe(Op op, const nagaya_llcl_atomic& atomic, Command* out) {
  set_place(out, op, atomic.remote);
  out->atomic = static_cast<Atomic>(atomic.operation);
  out->data.word = {reinterpret_cast<uint64_t>(atomic.before), static_cast<uint64_t>(atomic.type),
                    atomic.operand, atomic.expected};
}

// ---- checks of the arguments: 0 or -EINVAL ----

inline int check(const Endpoint& self, const nagaya_llcl_transfer* transfer,
                 const nagaya_remote* counter) {
  if (transfer == nullptr) return refuse_null("the request");
  if (!is_valid(transfer->on_complete)) return refuse_completion(transfer->on_complete);
  if (transfer->local == nullptr && transfer->bytes != 0) return refuse_null("the local memory");
  const nagaya_process process = transfer->remote.process;
  if (counter != nullptr &&
      (counter->process.node != process.node || counter->process.task != process.task))
    return refuse(-EINVAL, "the counter is of another process than the remote memory");
  if (self.is_here(process)) return 0;
  const int error = require_place(transfer->remote);
  return error != 0 ? error : require_local(self, transfer->local, transfer->bytes);
}

int check(const Endpoint& self, const nagaya_llcl_atomic* atomic);

// ---- preparing ----

// Prepares a transfer or atomic that check() has accepted. Returns 0, -EINVAL.
int prepare_checked(const Endpoint& self, Op op, const nagaya_llcl_transfer& transfer,
                    const nagaya_remote* counter, nagaya_llcl_prepared* out);
int prepare_checked(const Endpoint& self, const nagaya_llcl_atomic& atomic,
                    nagaya_llcl_prepared* out);

// Checks and prepares a transfer. `op`: kGet, kPut, or kPutNotify with `counter`. Returns 0,
// -EINVAL, -ESRCH.
int prepare(Op op, const nagaya_llcl_transfer* transfer, const nagaya_remote* counter,
            nagaya_llcl_prepared* out);

// Checks and prepares an atomic. Returns 0, -EINVAL, -ESRCH.
int prepare_atomic(const nagaya_llcl_atomic* atomic, nagaya_llcl_prepared* out);

}  // namespace nagaya::llcl
