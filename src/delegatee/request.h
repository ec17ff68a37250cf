// SPDX-License-Identifier: BSD-3-Clause
// request.h - how the delegatee reads a command.
#pragma once

#include "delegatee/batch.h"
#include "llcl/apply_atomic.h"
#include "llcl/command.h"

namespace nagaya::delegatee {

inline bool may_be_inline(const llcl::Command& command) {
  return command.op == llcl::Op::kPut || command.op == llcl::Op::kActiveMessage;
}
inline bool is_pieces(const llcl::Command& command) {
  return command.op == llcl::Op::kGetPieces || command.op == llcl::Op::kPutPieces;
}

// Whether there can be so many Pieces at that address.
inline bool lies_somewhere(uint64_t pieces, uint64_t count) {
  return count == 0 || (pieces != 0 && count <= (UINT64_MAX - pieces) / sizeof(llcl::Piece));
}

// The task's memory that the command reads or fills: one block. (kAtomic: see Operands; Pieces:
// see Portion.)
inline std::byte* local_of(const llcl::Command& command) {
  return reinterpret_cast<std::byte*>(command.local);
}
inline uint64_t bytes_of(const llcl::Command& command) {
  if (command.op == llcl::Op::kAtomic || command.op == llcl::Op::kFence || is_pieces(command))
    return 0;
  return command.inline_bytes != 0 ? command.inline_bytes : command.bytes;
}

inline llcl::Type type_of(const llcl::Command& command) {
  return static_cast<llcl::Type>(command.bytes);
}

}  // namespace nagaya::delegatee
