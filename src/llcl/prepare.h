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

#include "llcl/endpoint.h"

namespace nagaya::llcl {

// Up to here a copy is inlined in the program; a call vanishes beside a longer one.
inline constexpr size_t kInlineCopyMaxBytes = 4096;

// `op`: kGet, kPut, or kPutNotify with `counter`. Returns 0, -EINVAL, -ESRCH.
int prepare(Op op, const nagaya_llcl_transfer* transfer, const nagaya_remote* counter,
            nagaya_llcl_prepared* out);

// Returns the same.
int prepare_atomic(const nagaya_llcl_atomic* atomic, nagaya_llcl_prepared* out);

}  // namespace nagaya::llcl
