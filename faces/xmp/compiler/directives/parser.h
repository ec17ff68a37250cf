// SPDX-License-Identifier: BSD-3-Clause
// parser.h - parses one XMP directive.
#pragma once

#include <vector>

#include "diagnostics.h"
#include "directives/tree.h"

namespace nagaya::xmp {

// A combined directive gives several. Throws Complaint: the first error, at its place.
std::vector<Directive> parse_directive(const RawDirective& raw);

}  // namespace nagaya::xmp
