// SPDX-License-Identifier: BSD-3-Clause
// loops.h - the table of all loops, compiled twice from loops.cc: for every processor of the
// architecture, and for those that have its wide vectors. Both give the same bits, but for the
// payload and sign of a NaN.
#pragma once

#include "reduction/reductions.h"

namespace nagaya::reduction {

using Loops = std::array<Elements, kElementTypes>;  // in the order of nagaya_element_type
extern const Loops kPortableLoops;
extern const Loops kWideLoops;  // called only if arch::has_wide_vectors()

}  // namespace nagaya::reduction
