// SPDX-License-Identifier: BSD-3-Clause
// refusal.h - how a request is refused: a negative errno code, and a line for nagaya_error_text()
// that says what is wrong. All of it is out of line, for requests that are never made.
#pragma once

#include <cerrno>

#include "llcl/requests/endpoint.h"
#include "llcl/requests/misuse.h"
#include "task/api_error.h"

namespace nagaya::llcl {

using task::refuse;
using task::refuse_outside;

// Return -EINVAL.
[[gnu::cold]] int refuse_completion(const nagaya_completion& on_complete);  // is_valid() is false
[[gnu::cold]] int refuse_null(const char* what);
[[gnu::cold]] int refuse_local(const void* local, uint64_t bytes);
[[gnu::cold]] int refuse_task(nagaya_process process);
[[gnu::cold]] int refuse_alignment(const nagaya_remote& place, size_t bytes);
[[gnu::cold]] int refuse_node(const Endpoint& self, uint32_t node);
// For memory of this node that Endpoint::find() has not found.
[[gnu::cold]] int refuse_place(const Endpoint& self, const nagaya_remote& place, uint64_t bytes);

// Return 0 or -EINVAL, as check_local() and check_place() of misuse.h.
inline int require_local(const Endpoint& self, const void* local, uint64_t bytes) {
  return check_local(*self.record().space, local, bytes) == 0 ? 0 : refuse_local(local, bytes);
}
inline int require_place(const nagaya_remote& place) {
  return check_place(place) == 0 ? 0 : refuse_task(place.process);
}

// Queues a request by Endpoint::submit(), and returns its result.
template <std::invocable<Command&> Fill>
int submit(Endpoint& self, uint32_t node, const nagaya_completion& on_complete, Fill fill) {
  const int error = self.submit(node, on_complete, fill);
  return error == -EINVAL ? refuse_node(self, node) : error;
}

}  // namespace nagaya::llcl
