// SPDX-License-Identifier: BSD-3-Clause
// expression.h - C expressions in directives: finds where one ends, checks its syntax and, where
// all its names are known, its value.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "directives/tree.h"

namespace nagaya::xmp {

// The value of a name, if it is a constant.
using ConstantOf = std::function<std::optional<long>(const std::string& name)>;

// Parses a conditional expression that begins at tokens[first] and returns the index of the token
// after it. Throws Complaint at the token that does not fit; `end` is the
// place after the last token.
size_t end_of_expression(const std::vector<Token>& tokens, size_t first, const Place& end);

// Outside of parentheses there are sums and products alone: something can be added before it.
bool is_sum(const Expression& expression);

std::optional<long> constant_value(const Expression& expression, const ConstantOf& constant_of);

// The names in it that stand for objects: no members.
std::vector<const Token*> names_in(const Expression& expression);

}  // namespace nagaya::xmp
