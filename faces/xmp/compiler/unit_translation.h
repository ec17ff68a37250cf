// SPDX-License-Identifier: BSD-3-Clause
// unit_translation.h - all stages for one unit: preprocess, parse, check, rewrite.
#pragma once

#include <optional>
#include <string>

#include "diagnostics.h"
#include "preprocess/preprocess.h"

namespace nagaya::xmp {

// Returns the translation's text. Nullopt without errors in `diagnostics`: the unit uses no XMP,
// and the compiler behind gets the source itself. `checked`: the program tests each access to a
// distributed array.
std::optional<std::string> translate_unit(const PreprocessorInput& input, Diagnostics& diagnostics,
                                          bool checked = false);

}  // namespace nagaya::xmp
