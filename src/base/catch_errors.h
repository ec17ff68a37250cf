// SPDX-License-Identifier: BSD-3-Clause
// catch_errors.h - turns exceptions into negative errno codes, so that none leaves a C function.
#pragma once

#include <errno.h>

#include <new>
#include <system_error>

#include "base/error.h"

namespace nagaya::base {

// Returns the result of `function`, or the code of what it has thrown, after keep(text) with what
// the exception says; keep() throws nothing.
template <class Function, class Keep>
int catch_errors(Function function, Keep keep) {
  try {
    return function();
  } catch (const Error& error) {
    keep(error.what());
    return error.code();
  } catch (const std::bad_alloc&) {
    keep("out of memory");
    return -ENOMEM;
  } catch (const std::system_error& error) {  // of std::filesystem
    keep(error.what());
    return -error.code().value();
  }
}
template <class Function>
int catch_errors(Function function) {
  return catch_errors(function, [](const char*) {});
}

}  // namespace nagaya::base
