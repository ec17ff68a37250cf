// SPDX-License-Identifier: BSD-3-Clause
// halo_plan.h - which boxes of an array move between which processes to fill its shadows.
//
// Each dimension is one step, in their order. The boxes of a step include the shadow that earlier
// steps have filled, so corners come from adjacent processes, none from diagonal ones.
//
//      step 0            step 1                  orthogonal: one step, no corners
//      . . x x . .       . . x x . .
//                        x .     . x
//      . . x x . .       . . x x . .
//
// Boxes also include the shadows of dimensions without a width, so that separate exchanges of one
// dimension after the other give the same corners.
// A shadow that is wider than the neighbour's block gets rows of several processes.
#pragma once

#include <span>
#include <vector>

#include "array/shape.h"
#include "layout/strided.h"

namespace nagaya::array {

// One box, from its owner's block to a reader's shadow.
struct Transfer {
  uint32_t rank;       // of the other process; the own one: a copy within its block
  uint32_t side;       // which shadow it fills: 2 * dimension, + 1 for the high one
  ptrdiff_t to, from;  // where the box begins in the reader's and in the owner's memory  [bytes]
  layout::StridedCopy box;
};

struct HaloStep {
  std::vector<Transfer> receives;  // into the own shadow
  std::vector<Transfer> sends;     // into other processes' shadows
};

// Returns the steps of the process `rank`. For two processes and one side, the reader's receives
// and the owner's sends have the same order. May throw std::bad_alloc.
std::vector<HaloStep> plan_halo(const Shape& shape, uint32_t rank,
                                std::span<const nagaya_array_width> widths, bool orthogonal);

}  // namespace nagaya::array
