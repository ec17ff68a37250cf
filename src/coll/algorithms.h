// SPDX-License-Identifier: BSD-3-Clause
// algorithms.h - which algorithm does a collective. The choice depends on nothing that the members
// may see differently.
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

bool is_known(nagaya_collective_kind kind);
// Of a known kind.
const Algorithm& algorithm_of(const nagaya_collective& what, const Team& team);

}  // namespace nagaya::coll
