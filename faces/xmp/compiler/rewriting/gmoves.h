// SPDX-License-Identifier: BSD-3-Clause
// gmoves.h - rewrites the assignment behind a gmove directive to one call, in its place:
//
//   a[0:n] = b[i][1:n:2];
//   nagaya_xmp_gmove("a.c:7:9", NAGAYA_XMP_GMOVE, 0, (nagaya_xmp_side){..., {
//       nagaya_xmp_section_of(3, 0,n, 1), }}, (nagaya_xmp_side){..., {nagaya_xmp_single(i), ...}});
#pragma once

#include "checks/program.h"
#include "preprocess/unit.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

void rewrite_gmove(const Program& program, const Directive& directive, const GmoveDirective& gmove,
                   Edits& edits);

}  // namespace nagaya::xmp
