// SPDX-License-Identifier: BSD-3-Clause
// syntax.h - parses the printed text as C and collects the facts about it.
#pragma once

#include <optional>
#include <string>

#include "diagnostics.h"
#include "preprocess/unit.h"
#include "syntax/facts.h"

namespace nagaya::xmp {

// Clang's errors go to `diagnostics` at the user's places; then there are no facts. Those of system
// headers do not count: they are written for the compiler behind, which judges them.
std::optional<Facts> parse_c(const PrintedText& printed, const std::string& standard,
                             const std::vector<std::string>& target_words,
                             Diagnostics& diagnostics);

}  // namespace nagaya::xmp
