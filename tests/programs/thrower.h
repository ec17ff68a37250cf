// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace thrower {

class __attribute__((visibility("default"))) Refusal : public std::runtime_error {
 public:
  explicit Refusal(int code) : std::runtime_error("refused " + std::to_string(code)), code(code) {}
  int code;
};

__attribute__((visibility("default"))) void throw_refusal(int code);

// The result of `function`, -1 when it throws std::out_of_range.
__attribute__((visibility("default"))) int call(int (*function)(int), int argument);

}  // namespace thrower
