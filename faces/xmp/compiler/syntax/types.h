// SPDX-License-Identifier: BSD-3-Clause
// types.h - describes a declared name.
#pragma once

#include <clang/AST/Decl.h>

#include "syntax/facts.h"
#include "syntax/spots.h"

namespace nagaya::xmp {

// Returns all members of Variable but its scope and entity, which the caller fills in.
Variable describe(const clang::NamedDecl& declaration, const Spots& spots,
                  clang::ASTContext& context);
std::string type_name(clang::QualType type, clang::ASTContext& context);

}  // namespace nagaya::xmp
