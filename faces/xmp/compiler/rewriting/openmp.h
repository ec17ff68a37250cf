// SPDX-License-Identifier: BSD-3-Clause
// openmp.h - rewrites the shared clauses of OpenMP's pragmas: names of distributed arrays become
// names of their hoisted variables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/program.h"
#include "preprocess/unit.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

// `variables`: for each statement, the names that the translation declares around it and uses in it
// (StatementRewriter::variables()).
void rewrite_openmp(const Unit& unit, const Program& program,
                    const std::map<size_t, std::vector<std::string>>& variables, Edits& edits);

}  // namespace nagaya::xmp
