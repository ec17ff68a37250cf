// SPDX-License-Identifier: BSD-3-Clause
// datatypes.h - the standard's handles of predefined datatypes and operations. Source: MPI 5.0,
// appendix A, and mpi_abi.h of MPICH 5.0.2.
#pragma once

#include "handles.h"

namespace nagaya::mpi::standard {

inline const MPI_Datatype MPI_DATATYPE_NULL = handle<MPI_Datatype>(0x200),
                          MPI_BYTE = handle<MPI_Datatype>(0x247),
                          MPI_PACKED = handle<MPI_Datatype>(0x207);

// ---- of C and C++
inline const MPI_Datatype
    MPI_CHAR = handle<MPI_Datatype>(0x243),
    MPI_SIGNED_CHAR = handle<MPI_Datatype>(0x244), MPI_UNSIGNED_CHAR = handle<MPI_Datatype>(0x245),
    MPI_SHORT = handle<MPI_Datatype>(0x208), MPI_UNSIGNED_SHORT = handle<MPI_Datatype>(0x20c),
    MPI_INT = handle<MPI_Datatype>(0x209), MPI_UNSIGNED = handle<MPI_Datatype>(0x20d),
    MPI_LONG = handle<MPI_Datatype>(0x20a), MPI_UNSIGNED_LONG = handle<MPI_Datatype>(0x20e),
    MPI_LONG_LONG = handle<MPI_Datatype>(0x20b),
    MPI_UNSIGNED_LONG_LONG = handle<MPI_Datatype>(0x20f), MPI_INT8_T = handle<MPI_Datatype>(0x240),
    MPI_UINT8_T = handle<MPI_Datatype>(0x241), MPI_INT16_T = handle<MPI_Datatype>(0x248),
    MPI_UINT16_T = handle<MPI_Datatype>(0x249), MPI_INT32_T = handle<MPI_Datatype>(0x250),
    MPI_UINT32_T = handle<MPI_Datatype>(0x251), MPI_INT64_T = handle<MPI_Datatype>(0x258),
    MPI_UINT64_T = handle<MPI_Datatype>(0x259), MPI_AINT = handle<MPI_Datatype>(0x201),
    MPI_OFFSET = handle<MPI_Datatype>(0x203), MPI_COUNT = handle<MPI_Datatype>(0x202),
    MPI_WCHAR = handle<MPI_Datatype>(0x23c), MPI_C_BOOL = handle<MPI_Datatype>(0x238),
    MPI_CXX_BOOL = handle<MPI_Datatype>(0x239), MPI_FLOAT = handle<MPI_Datatype>(0x210),
    MPI_DOUBLE = handle<MPI_Datatype>(0x214), MPI_LONG_DOUBLE = handle<MPI_Datatype>(0x220),
    MPI_C_FLOAT_COMPLEX = handle<MPI_Datatype>(0x212),
    MPI_C_DOUBLE_COMPLEX = handle<MPI_Datatype>(0x216),
    MPI_C_LONG_DOUBLE_COMPLEX = handle<MPI_Datatype>(0x224),
    MPI_CXX_FLOAT_COMPLEX = handle<MPI_Datatype>(0x213),
    MPI_CXX_DOUBLE_COMPLEX = handle<MPI_Datatype>(0x217),
    MPI_CXX_LONG_DOUBLE_COMPLEX = handle<MPI_Datatype>(0x225);

// ---- of Fortran
inline const MPI_Datatype MPI_CHARACTER = handle<MPI_Datatype>(0x21e),
                          MPI_LOGICAL = handle<MPI_Datatype>(0x218),
                          MPI_INTEGER = handle<MPI_Datatype>(0x219),
                          MPI_INTEGER1 = handle<MPI_Datatype>(0x2c1),
                          MPI_INTEGER2 = handle<MPI_Datatype>(0x2c9),
                          MPI_INTEGER4 = handle<MPI_Datatype>(0x2d1),
                          MPI_INTEGER8 = handle<MPI_Datatype>(0x2d9),
                          MPI_REAL = handle<MPI_Datatype>(0x21a),
                          MPI_REAL4 = handle<MPI_Datatype>(0x2d2),
                          MPI_REAL8 = handle<MPI_Datatype>(0x2da),
                          MPI_REAL16 = handle<MPI_Datatype>(0x2e2),
                          MPI_DOUBLE_PRECISION = handle<MPI_Datatype>(0x21c),
                          MPI_COMPLEX = handle<MPI_Datatype>(0x21b),
                          MPI_COMPLEX8 = handle<MPI_Datatype>(0x2db),
                          MPI_COMPLEX16 = handle<MPI_Datatype>(0x2e3),
                          MPI_COMPLEX32 = handle<MPI_Datatype>(0x2eb),
                          MPI_DOUBLE_COMPLEX = handle<MPI_Datatype>(0x21d);

// ---- pairs, for MPI_MAXLOC and MPI_MINLOC
inline const MPI_Datatype MPI_FLOAT_INT = handle<MPI_Datatype>(0x228),
                          MPI_DOUBLE_INT = handle<MPI_Datatype>(0x229),
                          MPI_LONG_INT = handle<MPI_Datatype>(0x22a),
                          MPI_2INT = handle<MPI_Datatype>(0x22b),
                          MPI_SHORT_INT = handle<MPI_Datatype>(0x22c),
                          MPI_LONG_DOUBLE_INT = handle<MPI_Datatype>(0x22d),
                          MPI_2REAL = handle<MPI_Datatype>(0x230),
                          MPI_2DOUBLE_PRECISION = handle<MPI_Datatype>(0x231),
                          MPI_2INTEGER = handle<MPI_Datatype>(0x232);

// ---- operations
inline const MPI_Op MPI_OP_NULL = handle<MPI_Op>(0x20), MPI_MAX = handle<MPI_Op>(0x23),
                    MPI_MIN = handle<MPI_Op>(0x22), MPI_SUM = handle<MPI_Op>(0x21),
                    MPI_PROD = handle<MPI_Op>(0x24), MPI_LAND = handle<MPI_Op>(0x30),
                    MPI_BAND = handle<MPI_Op>(0x28), MPI_LOR = handle<MPI_Op>(0x31),
                    MPI_BOR = handle<MPI_Op>(0x29), MPI_LXOR = handle<MPI_Op>(0x32),
                    MPI_BXOR = handle<MPI_Op>(0x2a), MPI_MAXLOC = handle<MPI_Op>(0x39),
                    MPI_MINLOC = handle<MPI_Op>(0x38), MPI_REPLACE = handle<MPI_Op>(0x3c),
                    MPI_NO_OP = handle<MPI_Op>(0x3d);

}  // namespace nagaya::mpi::standard
