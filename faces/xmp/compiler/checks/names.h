// SPDX-License-Identifier: BSD-3-Clause
// names.h - checks of the expressions and references in directives.
#pragma once

#include "checks/program.h"

namespace nagaya::xmp {

// Return text for messages: 'name'; "'a' has 2 dimensions, not 3".
std::string quoted(const Token& token);
std::string other_rank(const std::string& what, size_t has, size_t wants);

// The functions below throw Complaint at the place of the error. `offset`: the directive's.

void require_dimensions(const Token& name, size_t dimensions);  // at most 7
// Check that each name is a variable or function of the user and that none is a distributed array.
void check_expression(const Program& program, const Expression& expression, size_t offset);
void check_bound(const Program& program, const Bound& bound, size_t offset);
std::optional<long> constant_of(const Program& program, const Expression& expression,
                                size_t offset);
// Finds the nodes or template that the reference names, checks its subscripts, and enters it in
// program.references.
void resolve(Program& program, const Reference& reference, size_t offset);
const NodesSymbol& require_nodes(const Program& program, const Token& name, size_t offset);
const TemplateSymbol& require_template(const Program& program, const Token& name, size_t offset);
const ArraySymbol& require_array(const Program& program, const Token& name, size_t offset);

}  // namespace nagaya::xmp
