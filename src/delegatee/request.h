// SPDX-License-Identifier: BSD-3-Clause
// request.h - how the delegatee reads a command.
#pragma once

#include "delegatee/batch.h"
#include "llcl/apply_atomic.h"
#include "llcl/command.h"

namespace nagaya::delegatee {

// In completion_kind: the task waits for this command and does nothing else.
inline constexpr uint8_t kBlocking = 0x80;

inline bool is_blocking(const llcl::Command& command) {
  return (static_cast<uint8_t>(command.completion_kind) & kBlocking) != 0;
}
inline llcl::Completion completion_of(const llcl::Command& command) {
  return static_cast<llcl::Completion>(static_cast<uint8_t>(command.completion_kind) & ~kBlocking);
}

inline bool carries_data(const llcl::Command& command) {
  return command.op == llcl::Op::kPut || command.op == llcl::Op::kActiveMessage;
}

// The task's memory that the command reads or fills. (kAtomic: see Operands.)
inline std::byte* local_of(const llcl::Command& command) {
  return reinterpret_cast<std::byte*>(command.local);
}
inline uint64_t bytes_of(const llcl::Command& command) {
  if (command.op == llcl::Op::kAtomic || command.op == llcl::Op::kFence) return 0;
  return command.inline_bytes != 0 ? command.inline_bytes : command.bytes;
}

inline llcl::Type type_of(const llcl::Command& command) {
  return static_cast<llcl::Type>(command.bytes);
}

}  // namespace nagaya::delegatee
