// SPDX-License-Identifier: BSD-3-Clause
// request.h - how the delegatee reads a command.
#pragma once

#include <algorithm>

#include "delegatee/batch.h"
#include "delegatee/known_regions.h"
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
inline bool lies_somewhere(const llcl::Command::Pieces& all) {
  return all.count == 0 ||
         (all.local != 0 && all.count <= (UINT64_MAX - all.local) / sizeof(llcl::Piece));
}

// The task's memory that a command with a block reads or fills.
inline std::byte* local_of(const llcl::Command& command) {
  return reinterpret_cast<std::byte*>(command.data.block.local);
}
inline uint64_t bytes_of(const llcl::Command& command) {
  if (command.op == llcl::Op::kAtomic || command.op == llcl::Op::kFence || is_pieces(command))
    return 0;
  return command.inline_bytes != 0 ? command.inline_bytes : command.data.block.bytes;
}

// Bytes of user data at the end of an active message. A task may claim more than the message has:
// then all of it is user data.
inline uint64_t data_bytes_of(const llcl::Command& command) {
  return std::min(command.offset, bytes_of(command));
}

inline KnownRegions::Name region_of(const llcl::Command& command) {
  return {command.node, command.task, command.region};
}

inline llcl::Type type_of(const llcl::Command& command) {
  return static_cast<llcl::Type>(command.data.word.type);
}

}  // namespace nagaya::delegatee
