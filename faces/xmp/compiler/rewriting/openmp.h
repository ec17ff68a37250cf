// SPDX-License-Identifier: BSD-3-Clause
// openmp.h - shared clauses of OpenMP's pragmas: the hoisted variables take the place of
// distributed arrays.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/program.h"
#include "preprocess/unit.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

// `variables`: names of the translation, by the statement that they are used in.
void rewrite_openmp(const Unit& unit, const Program& program,
                    const std::map<size_t, std::vector<std::string>>& variables, Edits& edits);

}  // namespace nagaya::xmp
