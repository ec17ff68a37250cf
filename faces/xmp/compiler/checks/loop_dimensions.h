// SPDX-License-Identifier: BSD-3-Clause
// loop_dimensions.h - warns of subscripts by which a distributed loop leaves the process's block:
// `a[i]`, where `i` runs along one dimension of the template and `a` is aligned with another.
#pragma once

#include "checks/program.h"
#include "diagnostics.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

void warn_of_other_dimensions(const Program& program, const Unit& unit, Diagnostics& diagnostics);

}  // namespace nagaya::xmp
