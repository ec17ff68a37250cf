// SPDX-License-Identifier: BSD-3-Clause
// c_text.h - C of the arguments that the runtime's functions take.
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"

namespace nagaya::xmp {

std::string where(const Place& place);  // "laplace.c:12:9", a string literal
std::string literal(const std::string& text);
std::string list(const std::vector<std::string>& items);   // a, b, c
std::string longs(const std::vector<std::string>& items);  // (const long[]){a, b, c}

// A pointer to the reference.
std::string on(const Program& program, const Reference& reference);
// The value of a nagaya_xmp_on of a loop: its indexes stand for all of their dimensions.
std::string on_of_loop(const Program& program, const Reference& reference, const Nest& loop);
// ... of the loop's reductions: dimensions that the loop does not name hold copies. `on`: the
// variable of the loop's value.
std::string reduced_on(const Program& program, const Reference& reference, const Nest& loop,
                       const std::string& on);
// A pointer, a null pointer if there is no reference.
std::string optional_on(const Program& program, const std::optional<Reference>& reference);
std::string optional_async(const std::optional<Expression>& async);
std::string alignment(const ArraySymbol& array);

}  // namespace nagaya::xmp
