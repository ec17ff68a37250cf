// SPDX-License-Identifier: BSD-3-Clause
// combiners.h - the layout of a datatype from the layouts of its old types: what each function
// MPI_Type_... means.
#pragma once

#include <optional>

#include "objects/contents.h"
#include "objects/layout.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// What has to be known of an old type, and comes out of a new one.
struct Element {
  SharedLayout layout;
  ptrdiff_t extent;
  MPI_Datatype
      elementary;  // the one predefined datatype that all data are of; MPI_DATATYPE_NULL: none
};

// Returns the layout of a predefined type. May throw std::bad_alloc, as combine() may.
SharedLayout layout_of_predefined(MPI_Datatype type, const Contents& made);

// Returns the new type without its extent, which the MPI beneath knows; nothing if the combiner is
// unknown. `old`: one for each of made.types().
std::optional<Element> combine(Contents& made, const std::vector<Element>& old);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
