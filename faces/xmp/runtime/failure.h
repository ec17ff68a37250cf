// SPDX-License-Identifier: BSD-3-Clause
// failure.h - ends the process with a one-line message about an error of the program.
#pragma once

#include <string>
#include <string_view>

namespace nagaya::xmp {

// Prints "laplace.c:12:9: what" to stderr and ends the process with status 1. If `where` is "" or a
// null pointer, prints "nagaya: XMP: what".
[[noreturn]] void fail(const char* where, std::string_view what);

// Fails if a call of Nagaya's functions has returned an error: "what has failed: reason".
void check(const char* where, const std::string& what, int error);

// Returns the text for a negative errno that one of Nagaya's functions has returned.
std::string reason_of(int error);

}  // namespace nagaya::xmp
