// SPDX-License-Identifier: BSD-3-Clause
// api_error.h - how the C functions of libnagaya say what went wrong: a negative errno code, and a
// line of text for nagaya_error_text(), of the calling thread.
#pragma once

#include "base/catch_errors.h"

namespace nagaya::task {

// Keeps the text for nagaya_error_text() of the calling thread; without memory for it, none.
void keep_error_text(const char* text) noexcept;

// Runs `body` and returns its int, or the code of the exception that it threw, whose text it keeps:
// no exception crosses the C ABI.
template <class Body>
int guarded(Body body) {
  return base::catch_errors(body, keep_error_text);
}

}  // namespace nagaya::task
