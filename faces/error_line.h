// SPDX-License-Identifier: BSD-3-Clause
// error_line.h - a line for the user on standard error, which many tasks share.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace nagaya {

// Writes the line by one write(), so that lines of several tasks do not mix (in a pipe up to
// PIPE_BUF bytes); the streams of some libcs write a line in parts. Callable by any thread; errors
// of the stream are ignored.
inline void print_error_line(std::string_view line) {
  std::string whole(line);
  whole += '\n';
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace nagaya
