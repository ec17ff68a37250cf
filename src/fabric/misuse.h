// SPDX-License-Identifier: BSD-3-Clause
// misuse.h - mistakes that every fabric refuses before it touches the wire, where they could end a
// link.
#pragma once

#include "fabric/fabric.h"

namespace nagaya::fabric {

// Both functions return 0, or the error of the operation's event.
inline int message_misuse(Node node, size_t nodes, size_t bytes, size_t message_max_bytes) {
  if (node >= nodes) return -EINVAL;
  return bytes > message_max_bytes ? -EMSGSIZE : 0;
}

inline int access_misuse(Node node, size_t nodes, size_t bytes, const Region& region,
                         uint64_t offset) {
  const bool inside = offset <= region.bytes && bytes <= region.bytes - offset;
  return node < nodes && inside ? 0 : -EINVAL;
}

}  // namespace nagaya::fabric
