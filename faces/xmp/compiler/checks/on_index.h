// SPDX-License-Identifier: BSD-3-Clause
// on_index.h - loop indexes in the on clause of a loop directive.
#pragma once

#include <functional>

#include "checks/program.h"

namespace nagaya::xmp {

bool mentions(const Subscript& subscript, const std::string& index);

// "0", or the C text of the offset that the subscript adds to the index; nullopt: it is no sum of
// the index and something.
std::optional<std::string> offset_from_index(const Subscript& subscript, const std::string& index);

// As resolve(), but names of indexes need not be known where the directive stands.
void resolve_on_of_loop(Program& program, const Reference& on, size_t offset,
                        const std::function<bool(const std::string&)>& is_index);

}  // namespace nagaya::xmp
