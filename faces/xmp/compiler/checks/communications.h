// SPDX-License-Identifier: BSD-3-Clause
// communications.h - checks the variables and clauses of communication directives.
#pragma once

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// All functions throw Complaint at the place of the first error.
void check_communication(Program& program, const Directive& directive,
                         const ReflectDirective& reflect);
void check_communication(Program& program, const Directive& directive,
                         const ReduceShadowDirective& reduce);
void check_communication(Program& program, const Directive& directive,
                         const WaitAsyncDirective& wait);
void check_communication(Program& program, const Directive& directive,
                         const BarrierDirective& barrier);
void check_communication(Program& program, const Directive& directive, const BcastDirective& bcast);
void check_communication(Program& program, const Directive& directive,
                         const ReductionDirective& reduction);
// Checks the variables of a loop's reduction clause. `on`: the reference in the loop's on clause.
void check_reduction(const Program& program, const ReductionClause& clause,
                     const Directive& directive, const Reference& on);
// Checks that the reduction clauses of one directive name no whole variable twice, be it as a value
// or as a location.
void check_distinct(const std::vector<ReductionClause>& clauses);
// Checks that a loop's reduction clause with locations (first or last maximum, ...) can tell which
// iteration gave a value.
void check_order(const Program& program, const Unit& unit, const ReductionClause& clause,
                 const Directive& directive);

}  // namespace nagaya::xmp
