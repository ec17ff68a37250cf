// SPDX-License-Identifier: BSD-3-Clause
// reference.h - finds the processes that a reference to nodes or a template (nagaya_xmp_on) means.
#pragma once

#include <string>

#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/array.h"

namespace nagaya::xmp {

// Returns the nodes that a reference names, directly or as the nodes its template is distributed
// onto. The program fails if the template is not fixed and distributed.
const nagaya_xmp_nodes& nodes_of(const char* where, const nagaya_xmp_on& on);

// Returns the set of processes that the reference means. nullptr: a subscript is `*`, which means
// one set for each coordinate, and the caller is in none of these.
ProcessSet* set_of(const char* where, const nagaya_xmp_on& on);

// Returns the set from which a declaration of nodes takes its processes: the caller's set or, if
// the caller is in none of the sets of a `*`, the first of them.
ProcessSet& own_or_first_set_of(const char* where, const nagaya_xmp_on& on);

// Returns the set of *on; for a null pointer the executing nodes.
ProcessSet* set_of(const char* where, const nagaya_xmp_on* on);

// Whether the caller is in the set of *on.
bool has_caller(const char* where, const nagaya_xmp_on* on);

// Returns "nodes p" or "template t", for messages.
std::string text_of(const nagaya_xmp_on& on);
// Returns the indexes of dimension d of the nodes or template.
nagaya_interval indexes_of(const nagaya_xmp_on& on, size_t d);
// Returns the caller's indexes of dimension d, which is not cyclic; if it is none of the nodes,
// high is low - 1.
nagaya_interval own_indexes_of(const nagaya_xmp_on& on, size_t d);
// Returns the number by which the program names index 0: 1 for nodes declared in parentheses.
long first_number_of(const nagaya_xmp_on& on);

// Returns `range` with the ends that the program left out replaced by `low` and `high`, the bounds
// of the dimension.
nagaya_xmp_subscript with_default_ends(nagaya_xmp_subscript range, long low, long high);

// Whether the subscripts of all dimensions but `dimension` include the caller's coordinates.
bool has_caller_in_other_dimensions(const char* where, const nagaya_xmp_on& on, int dimension);

}  // namespace nagaya::xmp
