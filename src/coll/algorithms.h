// SPDX-License-Identifier: BSD-3-Clause
// algorithms.h - chooses the algorithm of a collective. Every member makes the same choice: it
// depends only on values that are equal at all members.
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

bool is_valid_kind(nagaya_collective_kind kind);
// Returns the algorithm for `what`, whose kind must be known.
const Algorithm& algorithm_of(const nagaya_collective& what, const Team& team);

}  // namespace nagaya::coll
