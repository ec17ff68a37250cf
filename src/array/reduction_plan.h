// SPDX-License-Identifier: BSD-3-Clause
// reduction_plan.h - which boxes move when the elements of all shadows are combined with the
// elements that they stand for.
//
// One step: each box goes from a shadow straight to the block of its owner, corners too, so that no
// shadow changes. With `orthogonal` corners stay out.
//
//      x x x x x x
//      x . . . . x         each x goes to the block that has its index
//      x x x x x x
#pragma once

#include <span>

#include "array/halo_plan.h"

namespace nagaya::array {

// Transfer::side of its boxes.
inline constexpr uint32_t kReductionSide = 2 * kDimensions;

// Returns the step of the process `rank`: its receives combine boxes of others' shadows, and of its
// own if it is its own neighbour, with elements of its block; in an order that depends on the plan
// only. For two processes the one's receives and the other's sends have the same order. May throw
// std::bad_alloc.
HaloStep plan_reduction(const Shape& shape, uint32_t rank,
                        std::span<const nagaya_array_width> widths, bool orthogonal,
                        layout::Combine* combine);

}  // namespace nagaya::array
