// SPDX-License-Identifier: BSD-3-Clause
// failure.h - errors of the program: one line, and the process ends.
#pragma once

#include <string>
#include <string_view>

namespace nagaya::xmp {

// "laplace.c:12:9: what", to stderr; status 1. Without a place ("", a null pointer): "nagaya: XMP:
// what".
[[noreturn]] void fail(const char* where, std::string_view what);

// Of a negative errno that one of Nagaya's functions has returned.
std::string reason_of(int error);

}  // namespace nagaya::xmp
