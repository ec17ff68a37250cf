// SPDX-License-Identifier: BSD-3-Clause
// datatypes.h - MPICH's handles of predefined datatypes and operations. Source: mpi.h of MPICH 4.0.
#pragma once

#include "handles.h"

namespace nagaya::mpi::mpich {

inline constexpr MPI_Datatype MPI_DATATYPE_NULL = 0x0c000000, MPI_BYTE = 0x4c00010d,
                              MPI_PACKED = 0x4c00010f;

// ---- of C and C++
inline constexpr MPI_Datatype MPI_CHAR = 0x4c000101, MPI_SIGNED_CHAR = 0x4c000118,
                              MPI_UNSIGNED_CHAR = 0x4c000102, MPI_SHORT = 0x4c000203,
                              MPI_UNSIGNED_SHORT = 0x4c000204, MPI_INT = 0x4c000405,
                              MPI_UNSIGNED = 0x4c000406, MPI_LONG = 0x4c000807,
                              MPI_UNSIGNED_LONG = 0x4c000808, MPI_LONG_LONG = 0x4c000809,
                              MPI_UNSIGNED_LONG_LONG = 0x4c000819, MPI_INT8_T = 0x4c000137,
                              MPI_UINT8_T = 0x4c00013b, MPI_INT16_T = 0x4c000238,
                              MPI_UINT16_T = 0x4c00023c, MPI_INT32_T = 0x4c000439,
                              MPI_UINT32_T = 0x4c00043d, MPI_INT64_T = 0x4c00083a,
                              MPI_UINT64_T = 0x4c00083e, MPI_AINT = 0x4c000843,
                              MPI_OFFSET = 0x4c000844, MPI_COUNT = 0x4c000845,
                              MPI_WCHAR = 0x4c00040e, MPI_C_BOOL = 0x4c00013f,
                              MPI_CXX_BOOL = 0x4c000133, MPI_FLOAT = 0x4c00040a,
                              MPI_DOUBLE = 0x4c00080b, MPI_LONG_DOUBLE = 0x4c00100c,
                              MPI_C_FLOAT_COMPLEX = 0x4c000840, MPI_C_DOUBLE_COMPLEX = 0x4c001041,
                              MPI_C_LONG_DOUBLE_COMPLEX = 0x4c002042,
                              MPI_CXX_FLOAT_COMPLEX = 0x4c000834,
                              MPI_CXX_DOUBLE_COMPLEX = 0x4c001035,
                              MPI_CXX_LONG_DOUBLE_COMPLEX = 0x4c002036;

// ---- of Fortran
inline constexpr MPI_Datatype MPI_CHARACTER = 0x4c00011a, MPI_LOGICAL = 0x4c00041d,
                              MPI_INTEGER = 0x4c00041b, MPI_INTEGER1 = 0x4c00012d,
                              MPI_INTEGER2 = 0x4c00022f, MPI_INTEGER4 = 0x4c000430,
                              MPI_INTEGER8 = 0x4c000831, MPI_REAL = 0x4c00041c,
                              MPI_REAL4 = 0x4c000427, MPI_REAL8 = 0x4c000829,
                              MPI_REAL16 = 0x4c00102b, MPI_DOUBLE_PRECISION = 0x4c00081f,
                              MPI_COMPLEX = 0x4c00081e, MPI_COMPLEX8 = 0x4c000828,
                              MPI_COMPLEX16 = 0x4c00102a, MPI_COMPLEX32 = 0x4c00202c,
                              MPI_DOUBLE_COMPLEX = 0x4c001022;

// ---- pairs, for MPI_MAXLOC and MPI_MINLOC
inline constexpr MPI_Datatype MPI_FLOAT_INT = static_cast<MPI_Datatype>(0x8c000000),
                              MPI_DOUBLE_INT = static_cast<MPI_Datatype>(0x8c000001),
                              MPI_LONG_INT = static_cast<MPI_Datatype>(0x8c000002),
                              MPI_2INT = 0x4c000816,
                              MPI_SHORT_INT = static_cast<MPI_Datatype>(0x8c000003),
                              MPI_LONG_DOUBLE_INT = static_cast<MPI_Datatype>(0x8c000004),
                              MPI_2REAL = 0x4c000821, MPI_2DOUBLE_PRECISION = 0x4c001023,
                              MPI_2INTEGER = 0x4c000820;

// ---- operations
inline constexpr MPI_Op MPI_OP_NULL = 0x18000000, MPI_MAX = 0x58000001, MPI_MIN = 0x58000002,
                        MPI_SUM = 0x58000003, MPI_PROD = 0x58000004, MPI_LAND = 0x58000005,
                        MPI_BAND = 0x58000006, MPI_LOR = 0x58000007, MPI_BOR = 0x58000008,
                        MPI_LXOR = 0x58000009, MPI_BXOR = 0x5800000a, MPI_MAXLOC = 0x5800000c,
                        MPI_MINLOC = 0x5800000b, MPI_REPLACE = 0x5800000d, MPI_NO_OP = 0x5800000e;

}  // namespace nagaya::mpi::mpich
