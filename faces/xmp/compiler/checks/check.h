// SPDX-License-Identifier: BSD-3-Clause
// check.h - checks the directives of a unit against its C, and resolves their names.
#pragma once

#include "checks/program.h"
#include "diagnostics.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Errors go to `diagnostics`; the program is complete only if there are none.
Program check(const Unit& unit, Facts facts, std::vector<Directive> directives,
              Diagnostics& diagnostics);

}  // namespace nagaya::xmp
