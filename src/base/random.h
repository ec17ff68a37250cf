// SPDX-License-Identifier: BSD-3-Clause
// random.h - the kernel's random numbers: good enough for keys.
#pragma once

#include <sys/random.h>

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace nagaya::base {

// At most 256 bytes, so that no signal interrupts it. Throws Error.
inline void fill_random(void* to, size_t bytes) {
  if (::getrandom(to, bytes, 0) != static_cast<ssize_t>(bytes)) throw_errno("getrandom");
}

inline uint64_t random_number() {
  uint64_t number = 0;
  fill_random(&number, sizeof number);
  return number;
}

}  // namespace nagaya::base
