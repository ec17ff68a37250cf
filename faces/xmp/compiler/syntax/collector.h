// SPDX-License-Identifier: BSD-3-Clause
// collector.h - walks Clang's syntax tree and writes down the facts.
#pragma once

#include <clang/AST/ASTContext.h>

#include "syntax/facts.h"

namespace nagaya::xmp {

Facts collect_facts(clang::ASTContext& context);

}  // namespace nagaya::xmp
