// SPDX-License-Identifier: BSD-3-Clause
// parser.h - parses one XMP directive.
#pragma once

#include <vector>

#include "diagnostics.h"
#include "directives/tree.h"

namespace nagaya::xmp {

// Returns one directive, or several for a combined one. Throws Complaint at the place of the first
// error.
std::vector<Directive> parse_directive(const RawDirective& raw);

}  // namespace nagaya::xmp
