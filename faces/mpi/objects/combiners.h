// SPDX-License-Identifier: BSD-3-Clause
// combiners.h - the layout of a datatype from the layouts of its old types: what each function
// MPI_Type_... means.
#pragma once

#include <optional>

#include "objects/contents.h"
#include "objects/layout.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// A type as combine() needs its old types, and returns the new one.
struct TypeLayout {
  SharedLayout layout;
  ptrdiff_t extent;
  // The one predefined datatype that all data are of, or MPI_DATATYPE_NULL.
  MPI_Datatype elementary;
};

// Returns the layout of a predefined type. May throw std::bad_alloc, as combine() may.
SharedLayout layout_of_predefined(MPI_Datatype type, const Contents& made);

// Returns the new type without its extent, which the MPI beneath knows; nothing if the combiner is
// unknown. `old`: one for each of made.types().
std::optional<TypeLayout> combine(Contents& made, const std::vector<TypeLayout>& old);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
