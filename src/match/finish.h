// SPDX-License-Identifier: BSD-3-Clause
// finish.h - completes a request: sets its flag, then calls its function. Once the flag
// is set the request is the caller's again. Other floors read the flag by is_complete().
#pragma once

#include <atomic>

#include "nagaya/match.h"

namespace nagaya::match {

// Release: pairs with the acquire of a thread that reads the flag.
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

// Whether the request is complete. Acquire: pairs with mark_complete(), which any thread that makes
// progress may have called.
template <class Request>
bool is_complete(Request& request) {
  return std::atomic_ref(request.is_complete).load(std::memory_order_acquire) != 0;
}

}  // namespace nagaya::match
