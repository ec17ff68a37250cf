// SPDX-License-Identifier: BSD-3-Clause
// reference.h - the processes that a reference to nodes or a template means (nagaya_xmp_on).
#pragma once

#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {

// That a reference is to, directly or by the template. The program fails if the template is on
// none.
const nagaya_xmp_nodes& nodes_of(const char* where, const nagaya_xmp_on& on);

// nullptr: a set for each coordinate (`*`), and the caller is in none.
ProcessSet* set_of(const char* where, const nagaya_xmp_on& on);

// To declare nodes: the caller's set, or outside of all of them (`*`) the first one.
ProcessSet& own_or_first_set_of(const char* where, const nagaya_xmp_on& on);

// A null pointer means the executing nodes.
ProcessSet* set_of(const char* where, const nagaya_xmp_on* on);

// A range of a dimension that has low .. high, with the ends that the program has left out.
nagaya_xmp_subscript with_ends(nagaya_xmp_subscript range, long low, long high);

// Whether the caller's coordinates are among those that the subscripts mean, but for `dimension`.
bool is_caller_beside(const char* where, const nagaya_xmp_on& on, int dimension);

}  // namespace nagaya::xmp
