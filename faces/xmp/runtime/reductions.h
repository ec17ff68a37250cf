// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - the operations of `reduction`, on the types of C.
#pragma once

#include <cstddef>

#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {

// With locations or without: the first, the last or any maximum (minimum).
bool is_maximum(nagaya_xmp_operation operation);
bool is_minimum(nagaya_xmp_operation operation);

size_t bytes_of(nagaya_xmp_type type);
// A function that computes inout[n] = in[n] op inout[n] for n < count. reduction_of() returns
// nullptr if the type does not have the operation; it treats FIRST_MAX and LAST_MAX as MAX, and so
// on.
using Reduce = void(void* context, const void* in, void* inout, size_t count);
Reduce* reduction_of(nagaya_xmp_operation operation, nagaya_xmp_type type);

// A function that adds *factor * in[n] to sums[n] for n < count.
using MultiplyAdd = void(const void* factor, const void* in, void* sums, size_t count);
MultiplyAdd* multiply_add_of(nagaya_xmp_type type);

// A function that returns a value below 0, 0, or above 0 if `a` is less, neither, or greater.
// comparison_of() returns nullptr for complex types.
using Compare = int(const void* a, const void* b);
Compare* comparison_of(nagaya_xmp_type type);

}  // namespace nagaya::xmp
