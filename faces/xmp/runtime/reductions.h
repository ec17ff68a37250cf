// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - the operations of `reduction`, on the types of C.
#pragma once

#include <cstddef>

#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {

size_t bytes_of(nagaya_xmp_type type);
// inout[n] = in[n] op inout[n]; nullptr: the type does not have that operation. FIRST_MAX and
// LAST_MAX are MAX here, and so on.
using Reduce = void(void* context, const void* in, void* inout, size_t count);
Reduce* reduction_of(nagaya_xmp_operation operation, nagaya_xmp_type type);

// Of two values: below 0, 0, above 0 when `a` is less, neither, greater. nullptr: of complex types.
using Compare = int(const void* a, const void* b);
Compare* comparison_of(nagaya_xmp_type type);

}  // namespace nagaya::xmp
