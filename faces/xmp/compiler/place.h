// SPDX-License-Identifier: BSD-3-Clause
// place.h - a point of the user's source, as diagnostics name it.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace nagaya::xmp {

// Points to a file's name that the unit's PrintedText owns: it must outlive the place.
struct Place {
  std::string_view file;
  unsigned line = 0;    // from 1; 0: no place
  unsigned column = 0;  // from 1

  friend auto operator<=>(const Place&, const Place&) = default;
};

// "laplace.c:12:9"
std::string written(const Place& place);

}  // namespace nagaya::xmp
