// SPDX-License-Identifier: BSD-3-Clause
// declarations.h - parsers of the declarative directives. A combined directive is parsed in two
// parts: the attributes before `::`, and the names behind it.
#pragma once

#include "directives/cursor.h"

namespace nagaya::xmp {

NodesDirective parse_nodes_declaration(Cursor& cursor);
TemplateDirective parse_template_declaration(Cursor& cursor);
std::vector<DistributionFormat> parse_formats(Cursor& cursor);
// Parses "with t(i+1, *)" into `align`, and leaves its array and sources as they are.
void parse_with(Cursor& cursor, AlignDirective& align);
std::vector<AlignSource> parse_align_sources(Cursor& cursor);
std::vector<ShadowWidth> parse_shadow_widths(Cursor& cursor);
TemplateFixDirective parse_template_fix(Cursor& cursor);

}  // namespace nagaya::xmp
