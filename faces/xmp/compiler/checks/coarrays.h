// SPDX-License-Identifier: BSD-3-Clause
// coarrays.h - checks of coarrays: their declarations, the references to other images, and the
// directives of the local view. The functions throw Complaint at the place of the error.
#pragma once

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Enters the coarrays of a declaration, or of a directive, in program.coarrays.
void declare_coarray(Program& program, const CoarrayDeclaration& declared);
void declare_coarrays(Program& program, const Directive& directive, const CoarrayDirective& body);

// Enters the assignments of sections without a directive in program.section_assignments and
// program.section_statements.
void find_section_assignments(Program& program, const Unit& unit);

// Check a reference, and enter its coarray in program.coindexed.
void check_coindex(Program& program, const Unit& unit, const CoindexUse& use);
void check_atomic(Program& program, const Unit& unit, const AtomicCall& call);

void check_communication(Program& program, const Directive& directive, const ImageDirective& body);
void check_communication(Program& program, const Directive& directive, const PostDirective& body);
void check_communication(Program& program, const Directive& directive, const WaitDirective& body);
void check_communication(Program& program, const Directive& directive, const LockDirective& body);

}  // namespace nagaya::xmp
