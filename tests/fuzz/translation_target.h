// SPDX-License-Identifier: BSD-3-Clause
// translation_target.h - any C source with XMP directives, through all stages of xmpcc.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "unit_translation.h"

namespace nagaya::fuzz {

inline void translate_any_source(const uint8_t* data, size_t bytes) {
  const std::string contents(reinterpret_cast<const char*>(data), bytes);
  xmp::Diagnostics diagnostics(true);
  const std::optional<std::string> text = xmp::translate_unit(
      {"fuzz.c", "gnu17", {}, {"", {}, "x86_64-linux-gnu"}, &contents}, diagnostics);
  // A translation, or a reason why there is none.
  if (text && diagnostics.errors() != 0) std::abort();
}

}  // namespace nagaya::fuzz
