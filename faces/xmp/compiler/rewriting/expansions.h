// SPDX-License-Identifier: BSD-3-Clause
// expansions.h - rewrites the clauses expand, margin and peel_and_wait of a loop. The loops stand
// once in the translation, in a loop over the parts of their iterations:
//
//   for (int xmp_space1 = 0; xmp_space1 <= 4; ++xmp_space1) {
//     if (xmp_space1 == 1) nagaya_xmp_wait_async(...);            peel_and_wait only
//     const int xmp_loop1_first = ..., xmp_loop1_end = ...;       of this part
//     the loops
//   }
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"

namespace nagaya::xmp {

// One distributed loop of the nest: its type, and the prefix of its variables' names.
struct ExpandedLoop {
  std::string index_type, name;
};

// Returns C text of a pointer to the nagaya_xmp_expansion of one dimension of the on clause.
std::string expansion_pointer(const ExpandWidth& width);

// Returns the beginning of the loop over the parts; its end is a closing brace. For each of `loops`
// NAME_expanded is declared before. `number` makes its variables' names unique.
std::string loop_over_parts(const Directive& directive, const ExpandClause& clause,
                            const std::vector<ExpandedLoop>& loops, int number);

}  // namespace nagaya::xmp
