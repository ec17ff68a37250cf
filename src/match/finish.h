// SPDX-License-Identifier: BSD-3-Clause
// finish.h - the end of a request: its flag, then its function. The request is the caller's again.
// Other floors look at the flag.
#pragma once

#include <atomic>

#include "nagaya/match.h"

namespace nagaya::match {

// Release: pairs with the acquire of a thread that looks at the flag.
inline void mark_complete(uint32_t& flag) {
  std::atomic_ref(flag).store(1, std::memory_order_release);
}
inline void finish(nagaya_send& send) {
  const auto complete = send.complete;
  mark_complete(send.is_complete);
  if (complete != nullptr) complete(&send);
}
inline void finish(nagaya_receive& receive) {
  const auto complete = receive.complete;
  mark_complete(receive.is_complete);
  if (complete != nullptr) complete(&receive);
}

// Acquire: pairs with mark_complete(), by any thread that makes progress.
template <class Request>
bool is_over(Request& request) {
  return std::atomic_ref(request.is_complete).load(std::memory_order_acquire) != 0;
}

}  // namespace nagaya::match
