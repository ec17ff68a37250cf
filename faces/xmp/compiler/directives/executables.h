// SPDX-License-Identifier: BSD-3-Clause
// executables.h - parsers of the executable directives. Each begins behind the directive's name.
#pragma once

#include "directives/cursor.h"

namespace nagaya::xmp {

LoopDirective parse_loop(Cursor& cursor);
TaskDirective parse_task(Cursor& cursor);
ReflectDirective parse_reflect(Cursor& cursor);
ReduceShadowDirective parse_reduce_shadow(Cursor& cursor);
WaitAsyncDirective parse_wait_async(Cursor& cursor);
BarrierDirective parse_barrier(Cursor& cursor);
BcastDirective parse_bcast(Cursor& cursor);
ReductionDirective parse_reduction(Cursor& cursor);

GmoveDirective parse_gmove(Cursor& cursor);

}  // namespace nagaya::xmp
