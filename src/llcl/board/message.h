// SPDX-License-Identifier: BSD-3-Clause
// message.h - the messages in a task's mailbox. 56 bytes each; plain data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mailbox/mailbox.h"

namespace nagaya::llcl {

enum class MessageKind : uint8_t {
  kCompletion,  // CompletionMessage: a request with a callback is complete
  kActive,      // ActiveMessage
};

// `request` points to a Request, which the reader of this message has made with its own allocator.
struct CompletionMessage {
  uint64_t request;
  int32_t error;  // 0 or a negative errno
  uint32_t reserved;
};

inline constexpr size_t kInlineBodyMaxBytes = mailbox::kMessageMaxBytes - 24;

struct ActiveMessage {
  uint32_t handler;
  uint32_t source_node, source_task;
  uint32_t sender;  // mailbox::Owner of a sender of this node; 0: it came from another node
  uint64_t bytes;
  union {
    std::byte body[kInlineBodyMaxBytes];
    struct {
      const std::byte* address;     // of a longer body
      std::atomic<uint32_t>* done;  // becomes 1 when it is no longer needed; nullptr: it is a block
                                    // of the space heap, for the reader to free
    } longer;
  };
};
static_assert(sizeof(ActiveMessage) == mailbox::kMessageMaxBytes);

}  // namespace nagaya::llcl
