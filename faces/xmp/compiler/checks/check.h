// SPDX-License-Identifier: BSD-3-Clause
// check.h - checks the directives of a unit against its C, and resolves their names.
#pragma once

#include "checks/program.h"
#include "diagnostics.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Returns the checked program and reports errors to `diagnostics`. Each directive with an error is
// left out of it, so the caller may translate the program only if there were none.
Program check(const Unit& unit, Facts facts, std::vector<Directive> directives,
              Diagnostics& diagnostics);

}  // namespace nagaya::xmp
