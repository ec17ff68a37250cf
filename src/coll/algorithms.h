// SPDX-License-Identifier: BSD-3-Clause
// algorithms.h - which algorithm does a collective. The choice depends on nothing that the members
// may see differently.
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

// nullptr: there is no such kind.
const Algorithm* algorithm_of(const nagaya_collective& what);

}  // namespace nagaya::coll
