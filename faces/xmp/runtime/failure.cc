// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/failure.h"

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

std::string reason_of(int error) {
  return nagaya_strerror(error);
}

}  // namespace nagaya::xmp
