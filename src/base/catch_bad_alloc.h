// SPDX-License-Identifier: BSD-3-Clause
// catch_bad_alloc.h - turns std::bad_alloc into -ENOMEM, so that none leaves a C function.
#pragma once

#include <errno.h>

#include <new>

namespace nagaya::base {

// Returns the result of `function`, or -ENOMEM if it throws std::bad_alloc.
template <class Function>
int catch_bad_alloc(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace nagaya::base
