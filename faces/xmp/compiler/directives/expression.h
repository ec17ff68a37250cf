// SPDX-License-Identifier: BSD-3-Clause
// expression.h - C expressions in directives: finds where one ends, checks its syntax and computes
// its value if all its names are constants.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "directives/tree.h"

namespace nagaya::xmp {

// Returns the value of a name if it is a constant, else nullopt.
using ConstantOf = std::function<std::optional<long>(const std::string& name)>;

// Parses a conditional expression that begins at tokens[first] and returns the index of the token
// after it. Throws Complaint at the token that does not fit; `end` is the
// place after the last token.
size_t end_of_expression(const std::vector<Token>& tokens, size_t first, const Place& end);

// Whether the expression has, outside of parentheses, no operator that binds weaker than `+`, so
// that a term may be put before it.
bool is_sum(const Expression& expression);

// Returns the expression's value; nullopt: it is no constant.
std::optional<long> constant_value(const Expression& expression, const ConstantOf& constant_of);

// Returns the names in the expression that stand for objects; names of members are left out.
std::vector<const Token*> names_in(const Expression& expression);

}  // namespace nagaya::xmp
