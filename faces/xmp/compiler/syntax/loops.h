// SPDX-License-Identifier: BSD-3-Clause
// loops.h - analyses a for statement. It is canonical if one index goes from a first value to a
// bound in equal steps.
#pragma once

#include <clang/AST/Stmt.h>

#include <functional>

#include "syntax/facts.h"
#include "syntax/spots.h"

namespace nagaya::xmp {

// Returns the entity (Variable::entity) of a declaration.
using EntityOf = std::function<size_t(const clang::ValueDecl*)>;

// Returns the loop's parts; Loop::problem says why it is not canonical.
Loop take_apart(const clang::ForStmt& statement, const Spots& spots, clang::ASTContext& context,
                const EntityOf& entity_of);

}  // namespace nagaya::xmp
