// SPDX-License-Identifier: BSD-3-Clause
// preload.cc - takes this library out of LD_PRELOAD before the program starts. The program and its
// children find the value that the user has set: they are no tasks, unless Nagaya starts them and
// preloads the face anew.
#include <cstring>
#include <string_view>

#include "environment.h"

extern char** environ;

namespace nagaya::mpi {
namespace {

constexpr std::string_view kName = "LD_PRELOAD=";

// Removes the last library of the value if that is the face. Changes the environment in place: a
// program may have a getenv() and setenv() of its own, as bash has, which are not to be called
// before the program has started.
void leave(char** variable) {
  const std::string_view value = std::string_view(*variable).substr(kName.size());
  const size_t colon = value.rfind(':');
  const std::string_view last = value.substr(colon + 1);  // npos + 1 is 0
  if (last.substr(last.rfind('/') + 1) != kFaceLibrary) return;
  if (colon == std::string_view::npos) {
    for (; *variable != nullptr; ++variable) *variable = variable[1];
  } else {
    std::memset(*variable + kName.size() + colon, 0, last.size() + 1);
  }
}

[[gnu::constructor]] void leave_environment() {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (std::string_view(*variable).starts_with(kName)) return leave(variable);
}

}  // namespace
}  // namespace nagaya::mpi
