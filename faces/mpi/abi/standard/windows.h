// SPDX-License-Identifier: BSD-3-Clause
// windows.h - the standard's constants of windows. Source: MPI 5.0, appendix A.
#pragma once

#include "handles.h"

namespace nagaya::mpi::standard {

inline const MPI_Win MPI_WIN_NULL = handle<MPI_Win>(0x110);
inline const MPI_Errhandler MPI_ERRORS_ARE_FATAL = handle<MPI_Errhandler>(0x141);
inline const MPI_Errhandler MPI_ERRORS_RETURN = handle<MPI_Errhandler>(0x143);

inline constexpr int MPI_WIN_BASE = 601, MPI_WIN_DISP_UNIT = 602, MPI_WIN_SIZE = 603,
                     MPI_WIN_CREATE_FLAVOR = 604, MPI_WIN_MODEL = 605;
inline constexpr int MPI_WIN_FLAVOR_CREATE = 311, MPI_WIN_FLAVOR_ALLOCATE = 312,
                     MPI_WIN_FLAVOR_DYNAMIC = 313, MPI_WIN_FLAVOR_SHARED = 314;
inline constexpr int MPI_WIN_UNIFIED = 321;
inline constexpr int MPI_LOCK_EXCLUSIVE = 301, MPI_LOCK_SHARED = 302;
inline constexpr int MPI_MODE_NOCHECK = 1024, MPI_MODE_NOPRECEDE = 2048, MPI_MODE_NOPUT = 4096,
                     MPI_MODE_NOSTORE = 8192, MPI_MODE_NOSUCCEED = 16384;

inline constexpr int MPI_ERR_ASSERT = 22, MPI_ERR_BASE = 24, MPI_ERR_DISP = 26,
                     MPI_ERR_LOCKTYPE = 37, MPI_ERR_RMA_ATTACH = 46, MPI_ERR_RMA_CONFLICT = 47,
                     MPI_ERR_RMA_RANGE = 48, MPI_ERR_RMA_SHARED = 49, MPI_ERR_RMA_SYNC = 50,
                     MPI_ERR_SIZE = 52, MPI_ERR_WIN = 56, MPI_ERR_RMA_FLAVOR = 57;

}  // namespace nagaya::mpi::standard
