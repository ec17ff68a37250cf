// SPDX-License-Identifier: BSD-3-Clause
// coindexes.h - how the program uses the references to coarrays of other images, and its calls of
// xmp_atomic_define() and xmp_atomic_ref().
#pragma once

#include <clang/AST/ASTContext.h>

#include <vector>

#include "preprocess/unit.h"
#include "syntax/facts.h"

namespace nagaya::xmp {

// Enters the uses of `coindexes` in facts.coindex_uses, and the calls in facts.atomic_calls.
void collect_coindexes(clang::ASTContext& context, const std::vector<Coindex>& coindexes,
                       Facts& facts);

}  // namespace nagaya::xmp
