// SPDX-License-Identifier: BSD-3-Clause
// on_index.h - loop indexes in the on clause of a loop directive.
#pragma once

#include <functional>

#include "checks/program.h"

namespace nagaya::xmp {

// Returns whether the name `index` stands anywhere in the subscript.
bool mentions(const Subscript& subscript, const std::string& index);

// Returns the C text of the offset that the subscript adds to the index, "0" for the index alone;
// nullopt: the subscript is no sum of the index and something.
std::optional<std::string> offset_from_index(const Subscript& subscript, const std::string& index);

// Resolves the reference of a loop's on clause like resolve(), but names for which is_index() is
// true need not be declared where the directive stands.
void resolve_on_of_loop(Program& program, const Reference& on, size_t offset,
                        const std::function<bool(const std::string&)>& is_index);

}  // namespace nagaya::xmp
