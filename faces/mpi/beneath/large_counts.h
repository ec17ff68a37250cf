// SPDX-License-Identifier: BSD-3-Clause
// large_counts.h - functions X_c, with MPI_Count, of an MPI that has only X, with int.
//
// We export MPI_X_c for every MPI, and a program that finds a name does not look whether the MPI
// has it (mpi4py has weak references to all). So X_c calls X if the counts fit, and returns
// MPI_ERR_COUNT if one does not.
#pragma once

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// Enters such functions for all that are nullptr.
void add_large_counts(Functions& beneath);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
