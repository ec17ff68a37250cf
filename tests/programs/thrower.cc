// SPDX-License-Identifier: BSD-3-Clause
// thrower.cc - a shared library that throws what its user catches, and calls back what throws.
#include "thrower.h"

namespace thrower {

void throw_refusal(int code) {
  throw Refusal(code);
}

int call(int (*function)(int), int argument) {
  try {
    return function(argument);
  } catch (const std::out_of_range&) {
    return -1;
  }
}

}  // namespace thrower
