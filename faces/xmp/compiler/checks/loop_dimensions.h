// SPDX-License-Identifier: BSD-3-Clause
// loop_dimensions.h - warns of subscripts that a distributed loop takes out of the process's block:
// `a[i]` where `i` runs along another dimension of the template than that which `a` is aligned
// with.
#pragma once

#include "checks/program.h"
#include "diagnostics.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

void warn_of_other_dimensions(const Program& program, const Unit& unit, Diagnostics& diagnostics);

}  // namespace nagaya::xmp
