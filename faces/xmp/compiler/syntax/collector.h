// SPDX-License-Identifier: BSD-3-Clause
// collector.h - collects the facts about a unit from Clang's syntax tree.
#pragma once

#include <clang/AST/ASTContext.h>

#include "syntax/facts.h"

namespace nagaya::xmp {

Facts collect_facts(clang::ASTContext& context);

}  // namespace nagaya::xmp
