// SPDX-License-Identifier: BSD-3-Clause
// communications.h - checks the variables and clauses of communication directives.
#pragma once

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// All throw Complaint.
void check_communication(Program& program, const Directive& directive,
                         const ReflectDirective& reflect);
void check_communication(Program& program, const Directive& directive,
                         const WaitAsyncDirective& wait);
void check_communication(Program& program, const Directive& directive,
                         const BarrierDirective& barrier);
void check_communication(Program& program, const Directive& directive, const BcastDirective& bcast);
void check_communication(Program& program, const Directive& directive,
                         const ReductionDirective& reduction);
// Of a loop, which is `on` that.
void check_reduction(const Program& program, const ReductionClause& clause,
                     const Directive& directive, const Reference& on);
// Of one directive: no whole variable stands in them twice, as a value or as a location.
void check_distinct(const std::vector<ReductionClause>& clauses);
// Of a loop's clause: which iteration is the first, or the last, can be known.
void check_order(const Program& program, const Unit& unit, const ReductionClause& clause,
                 const Directive& directive);

}  // namespace nagaya::xmp
