// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/failure.h"

#include <errno.h>

#include <cstdio>
#include <cstdlib>

#include "faces/error_line.h"
#include "nagaya/task.h"

namespace nagaya::xmp {

void fail(const char* where, std::string_view what) {
  std::fflush(stdout);
  const bool has_place = where != nullptr && *where != '\0';
  std::string line = has_place ? where : "nagaya: XMP";
  print_error_line(line.append(": ").append(what));
  std::_Exit(1);
}

void check(const char* where, const std::string& what, int error) {
  if (error != 0) fail(where, what + " has failed: " + reason_of(error));
}

std::string reason_of(int error) {
  // The library has joined already, so -ESRCH means a forked child.
  if (error == -ESRCH) return "this process is a forked child, which has no part in the job";
  return nagaya_strerror(error);
}

}  // namespace nagaya::xmp
