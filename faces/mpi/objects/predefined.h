// SPDX-License-Identifier: BSD-3-Clause
// predefined.h - MPI's predefined datatypes and operations in the terms of nagaya/reduction.h.
#pragma once

#include <nagaya/reduction.h>

#include "abi.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// Return nullptr for derived types, the program's operations, and types that nagaya/reduction.h
// does not have (Fortran's of 16 bytes, characters). After MPI_Init only.
const nagaya_element_type* find_element_type(MPI_Datatype type);
const nagaya_reduction* find_reduction(MPI_Op op);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
