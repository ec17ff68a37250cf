// SPDX-License-Identifier: BSD-3-Clause
// api_error.h - how the C functions of libnagaya say what went wrong: a negative errno code, and a
// line of text for nagaya_error_text(), of the calling thread.
#pragma once

#include "base/catch_errors.h"

namespace nagaya::task {

inline constexpr char kNotATask[] =
    "not a task: start the program by `nagaya run` or `nagaya exec`; a child that a task forks is "
    "none";

// Keeps the text for nagaya_error_text() of the calling thread; without memory for it, none.
void keep_error_text(const char* text) noexcept;

// Keep a text for a misuse that no exception reports. Out of line: a check that passes costs no
// more than its comparison. Returns `code`.
[[gnu::cold, gnu::format(printf, 2, 3)]] int refuse(int code, const char* format, ...) noexcept;
// For a process that is no task. Returns -ESRCH.
[[gnu::cold]] int refuse_outside() noexcept;

// Runs `body` and returns its int, or the code of the exception that it threw, whose text it keeps:
// no exception crosses the C ABI.
template <class Body>
int guarded(Body body) {
  return base::catch_errors(body, keep_error_text);
}

}  // namespace nagaya::task
