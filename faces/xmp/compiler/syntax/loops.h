// SPDX-License-Identifier: BSD-3-Clause
// loops.h - takes a for statement apart, if it is canonical: one index that goes from a first value
// to a bound in equal steps.
#pragma once

#include <clang/AST/Stmt.h>

#include <functional>

#include "syntax/facts.h"
#include "syntax/spots.h"

namespace nagaya::xmp {

using EntityOf = std::function<size_t(const clang::ValueDecl*)>;

Loop take_apart(const clang::ForStmt& statement, const Spots& spots, clang::ASTContext& context,
                const EntityOf& entity_of);

}  // namespace nagaya::xmp
