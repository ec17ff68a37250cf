// SPDX-License-Identifier: BSD-3-Clause
// error.h - the one exception type of the C++ code above the freestanding parts.
// A message is one line: the thing, the cause, the cure. No Error crosses a C ABI:
// the C functions return code() and keep what() for nagaya_error_text().
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace nagaya::base {

class Error : public std::runtime_error {
 public:
  // `code` is a negative errno value.
  Error(int code, const std::string& text) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// For a failed libc call: "<what>: <strerror(errno)>".
[[noreturn]] inline void throw_errno(const std::string& what, int error = errno) {
  throw Error(-error, what + ": " + std::strerror(error));
}

}  // namespace nagaya::base
