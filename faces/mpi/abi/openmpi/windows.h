// SPDX-License-Identifier: BSD-3-Clause
// windows.h - Open MPI's constants of windows. Source: mpi.h of 4.1 and 5.0.
#pragma once

#include "handles.h"

namespace nagaya::mpi::openmpi {

// Set by load_constants().
inline MPI_Win MPI_WIN_NULL;
inline MPI_Errhandler MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN;

inline constexpr int MPI_WIN_BASE = 7, MPI_WIN_SIZE = 8, MPI_WIN_DISP_UNIT = 9,
                     MPI_WIN_CREATE_FLAVOR = 10, MPI_WIN_MODEL = 11;
inline constexpr int MPI_WIN_FLAVOR_CREATE = 1, MPI_WIN_FLAVOR_ALLOCATE = 2,
                     MPI_WIN_FLAVOR_DYNAMIC = 3, MPI_WIN_FLAVOR_SHARED = 4;
inline constexpr int MPI_WIN_UNIFIED = 0;
inline constexpr int MPI_LOCK_EXCLUSIVE = 1, MPI_LOCK_SHARED = 2;
inline constexpr int MPI_MODE_NOCHECK = 1, MPI_MODE_NOPRECEDE = 2, MPI_MODE_NOPUT = 4,
                     MPI_MODE_NOSTORE = 8, MPI_MODE_NOSUCCEED = 16;

inline constexpr int MPI_ERR_ASSERT = 22, MPI_ERR_BASE = 24, MPI_ERR_DISP = 26,
                     MPI_ERR_LOCKTYPE = 37, MPI_ERR_RMA_CONFLICT = 46, MPI_ERR_RMA_SYNC = 47,
                     MPI_ERR_SIZE = 49, MPI_ERR_WIN = 53, MPI_ERR_RMA_RANGE = 68,
                     MPI_ERR_RMA_ATTACH = 69, MPI_ERR_RMA_FLAVOR = 70, MPI_ERR_RMA_SHARED = 71;

}  // namespace nagaya::mpi::openmpi
