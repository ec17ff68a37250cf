// SPDX-License-Identifier: BSD-3-Clause
// translation_target.h - any C source with XMP directives, through all stages of xmpcc.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "preprocess/preprocess.h"
#include "syntax/syntax.h"
#include "unit_translation.h"

namespace nagaya::fuzz {

inline xmp::PreprocessorInput as_input(const std::string& contents) {
  return {"fuzz.c", "gnu17", {}, {"", {}, "x86_64-linux-gnu"}, &contents};
}

inline bool is_c(const std::string& text) {
  xmp::Diagnostics diagnostics(true);
  const xmp::PreprocessorInput input = as_input(text);
  const xmp::Unit unit = xmp::preprocess(input, diagnostics);
  return xmp::parse_c(unit, input.standard, input.view.target_words(), diagnostics) &&
         diagnostics.errors() == 0;
}

inline void translate_any_source(const uint8_t* data, size_t bytes) {
  const std::string contents(reinterpret_cast<const char*>(data), bytes);
  const bool checked = bytes % 2 != 0;
  xmp::Diagnostics diagnostics(true);
  const std::optional<std::string> text =
      xmp::translate_unit(as_input(contents), diagnostics, checked);
  // A translation, which is C, or a reason why there is none.
  if (text && (diagnostics.errors() != 0 || !is_c(*text))) std::abort();
}

}  // namespace nagaya::fuzz
