// SPDX-License-Identifier: BSD-3-Clause
// or_enomem.h - no std::bad_alloc leaves a C function.
#pragma once

#include <errno.h>

#include <new>

namespace nagaya::base {

// The result of `function`, or -ENOMEM.
template <class Function>
int or_enomem(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace nagaya::base
