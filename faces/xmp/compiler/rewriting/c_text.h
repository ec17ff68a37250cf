// SPDX-License-Identifier: BSD-3-Clause
// c_text.h - writes arguments for the runtime's functions as C text.
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"

namespace nagaya::xmp {

std::string where(const Place& place);  // "laplace.c:12:9", a string literal
std::string literal(const std::string& text);
std::string list(const std::vector<std::string>& items);    // a, b, c
std::string braces(const std::vector<std::string>& items);  // {a, b, c}
// (const long[]){a, b, c}
std::string array_of(const std::string& type, const std::vector<std::string>& items);
// nagaya_xmp_reflect("laplace.c:12:9", a, b, c), without and with a semicolon
std::string call(const std::string& function, const Place& place,
                 const std::vector<std::string>& arguments);
std::string call_statement(const std::string& function, const Place& place,
                           const std::vector<std::string>& arguments);

// Returns the text of a pointer to a nagaya_xmp_on.
std::string on_pointer(const Program& program, const Reference& reference);
// Returns statements that declare and fill a nagaya_xmp_on. The subscripts that the reference does
// not have get no values: to clear all of it takes longer than what is done with it.
std::string on_statements(const Program& program, const Reference& reference,
                          const std::string& name);
// Returns the text of a nagaya_xmp_on for a loop's on clause. Subscripts that name a loop's index
// become `:`, all of the dimension.
std::string loop_on_value(const Program& program, const Reference& reference, const Nest& loop);
// Returns the text of a nagaya_xmp_on for the loop's reductions. Subscripts `:` without an index
// become `*`: processes along such a dimension hold copies. `on`: the name of the variable that
// holds loop_on_value()'s value.
std::string reduction_on_value(const Program& program, const Reference& reference, const Nest& loop,
                               const std::string& on);
// Returns on_pointer()'s text, or a null pointer for the executing nodes: no reference, or `*`.
std::string optional_on_pointer(const Program& program, const std::optional<Reference>& reference);
std::string optional_async(const std::optional<Expression>& async);
std::string alignment(const ArraySymbol& array);
// Returns the text of an array with one end, `low` or `high`, of the bounds of each dimension.
// Returns the C text of an array with the distribution of each dimension; "0" without formats.
std::string distribution_array(const std::vector<DistributionFormat>& formats);
std::string bounds_array(const std::vector<TemplateBounds>& bounds, Bound TemplateBounds::*end);

}  // namespace nagaya::xmp
