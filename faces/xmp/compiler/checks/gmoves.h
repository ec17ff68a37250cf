// SPDX-License-Identifier: BSD-3-Clause
// gmoves.h - checks of the assignments behind gmove directives.
#pragma once

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Enters the gmove in the program. Throws Complaint.
void check_gmove(Program& program, const Unit& unit, const Directive& directive,
                 const GmoveDirective& gmove, const Assignment& assignment);

}  // namespace nagaya::xmp
