// SPDX-License-Identifier: BSD-3-Clause
// syntax.h - parses the printed text as C and collects the facts about it.
#pragma once

#include <optional>
#include <string>

#include "diagnostics.h"
#include "preprocess/unit.h"
#include "syntax/facts.h"

namespace nagaya::xmp {

// Returns the facts; nullopt after an error, which goes to `diagnostics` at the user's place.
// Errors in system headers are ignored: these are written for the compiler behind, which reports
// them.
std::optional<Facts> parse_c(const Unit& unit, const std::string& standard,
                             const std::vector<std::string>& target_words,
                             Diagnostics& diagnostics);

}  // namespace nagaya::xmp
