// SPDX-License-Identifier: BSD-3-Clause
// accumulate_api.cc - the accumulates of nagaya/llcl.h.
#include <cerrno>

#include "llcl/board/accumulate.h"
#include "llcl/requests/endpoint.h"

using nagaya::llcl::Endpoint;

int nagaya_llcl_accumulate(const nagaya_llcl_accumulation* accumulation) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (accumulation == nullptr) return -EINVAL;
  return nagaya::llcl::accumulate(self->board(), self->owner(), *accumulation);
}

int nagaya_llcl_compare_swap(void* target, size_t bytes, const void* expected, const void* desired,
                             void* before) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  return nagaya::llcl::compare_swap(self->board(), self->owner(),
                                    {target, bytes, expected, desired, before});
}
