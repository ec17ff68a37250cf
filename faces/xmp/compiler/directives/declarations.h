// SPDX-License-Identifier: BSD-3-Clause
// declarations.h - parsers of the declarative directives. A combined directive is parsed in two
// parts: the attributes before `::`, and the names behind it.
#pragma once

#include "directives/cursor.h"

namespace nagaya::xmp {

NodesDirective parse_nodes_declaration(Cursor& cursor);
TemplateDirective parse_template_declaration(Cursor& cursor);
// Parse the part of a directive behind the names that it declares; the caller sets these:
// "(block) onto p", "[i][j] with t[i+1][*]", "(1, 0)".
DistributeDirective parse_distribution(Cursor& cursor);
AlignDirective parse_alignment(Cursor& cursor);
ShadowDirective parse_shadow(Cursor& cursor);
TemplateFixDirective parse_template_fix(Cursor& cursor);

}  // namespace nagaya::xmp
