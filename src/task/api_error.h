// SPDX-License-Identifier: BSD-3-Clause
// api_error.h - how the C functions of libnagaya say what went wrong: a negative errno code, and a
// line of text for nagaya_error_text(), of the calling thread.
#pragma once

#include <cerrno>
#include <filesystem>
#include <new>

#include "base/error.h"

namespace nagaya::task {

// Keeps the error's text for nagaya_error_text() of the calling thread. Returns the error's code.
int fail(const base::Error& error);

// Runs `body` and returns its int, or the code of the exception that it threw: no exception crosses
// the C ABI.
template <class Body>
int guarded(Body body) {
  try {
    return body();
  } catch (const base::Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail({-ENOMEM, "out of memory"});
  } catch (const std::filesystem::filesystem_error& error) {
    return fail({-error.code().value(), error.what()});
  }
}

}  // namespace nagaya::task
