// SPDX-License-Identifier: BSD-3-Clause
// windows.h - MPICH's constants of windows. Source: mpi.h of MPICH 4.0.
#pragma once

#include "handles.h"

namespace nagaya::mpi::mpich {

inline constexpr MPI_Win MPI_WIN_NULL = 0x20000000;
inline constexpr MPI_Errhandler MPI_ERRORS_ARE_FATAL = 0x54000000, MPI_ERRORS_RETURN = 0x54000001;

inline constexpr int MPI_WIN_BASE = 0x66000001, MPI_WIN_SIZE = 0x66000003,
                     MPI_WIN_DISP_UNIT = 0x66000005, MPI_WIN_CREATE_FLAVOR = 0x66000007,
                     MPI_WIN_MODEL = 0x66000009;
inline constexpr int MPI_WIN_FLAVOR_CREATE = 1, MPI_WIN_FLAVOR_ALLOCATE = 2,
                     MPI_WIN_FLAVOR_DYNAMIC = 3, MPI_WIN_FLAVOR_SHARED = 4;
inline constexpr int MPI_WIN_UNIFIED = 2;
inline constexpr int MPI_LOCK_EXCLUSIVE = 234, MPI_LOCK_SHARED = 235;
inline constexpr int MPI_MODE_NOCHECK = 1024, MPI_MODE_NOSTORE = 2048, MPI_MODE_NOPUT = 4096,
                     MPI_MODE_NOPRECEDE = 8192, MPI_MODE_NOSUCCEED = 16384;

inline constexpr int MPI_ERR_WIN = 45, MPI_ERR_BASE = 46, MPI_ERR_LOCKTYPE = 47,
                     MPI_ERR_RMA_CONFLICT = 49, MPI_ERR_RMA_SYNC = 50, MPI_ERR_SIZE = 51,
                     MPI_ERR_DISP = 52, MPI_ERR_ASSERT = 53, MPI_ERR_RMA_RANGE = 55,
                     MPI_ERR_RMA_ATTACH = 56, MPI_ERR_RMA_SHARED = 57, MPI_ERR_RMA_FLAVOR = 58;

}  // namespace nagaya::mpi::mpich
