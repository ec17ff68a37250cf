// SPDX-License-Identifier: BSD-3-Clause
// datatypes.h - Open MPI's handles of predefined datatypes and operations, known once MPI_Init has
// returned.
//
// They are addresses of variables of the library, of which a program that is not
// position-independent has copies (R_X86_64_COPY). So they are found by their numbers for Fortran,
// which mpif-handles.h of all releases names alike. Source: Open MPI 3.0 to 5.0.
#pragma once

#include "handles.h"

namespace nagaya::mpi::openmpi {

inline MPI_Datatype MPI_DATATYPE_NULL, MPI_BYTE, MPI_PACKED;

// ---- of C and C++
inline MPI_Datatype MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT,
    MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
    MPI_INT8_T, MPI_UINT8_T, MPI_INT16_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T,
    MPI_UINT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_WCHAR, MPI_C_BOOL, MPI_CXX_BOOL, MPI_FLOAT,
    MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
    MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
    MPI_CXX_LONG_DOUBLE_COMPLEX;

// ---- of Fortran
inline MPI_Datatype MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2,
    MPI_INTEGER4, MPI_INTEGER8, MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_DOUBLE_PRECISION,
    MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_DOUBLE_COMPLEX;

// ---- pairs, for MPI_MAXLOC and MPI_MINLOC
inline MPI_Datatype MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
    MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER;

// ---- operations
inline MPI_Op MPI_OP_NULL, MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR,
    MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP;

struct NumberedDatatype {
  MPI_Datatype* handle;
  MPI_Fint number;
};
inline constexpr NumberedDatatype kDatatypes[] = {{&MPI_DATATYPE_NULL, 0},
                                                  {&MPI_BYTE, 1},
                                                  {&MPI_PACKED, 2},
                                                  {&MPI_CHAR, 34},
                                                  {&MPI_SIGNED_CHAR, 36},
                                                  {&MPI_UNSIGNED_CHAR, 35},
                                                  {&MPI_SHORT, 37},
                                                  {&MPI_UNSIGNED_SHORT, 38},
                                                  {&MPI_INT, 39},
                                                  {&MPI_UNSIGNED, 40},
                                                  {&MPI_LONG, 41},
                                                  {&MPI_UNSIGNED_LONG, 42},
                                                  {&MPI_LONG_LONG, 43},
                                                  {&MPI_UNSIGNED_LONG_LONG, 44},
                                                  {&MPI_INT8_T, 58},
                                                  {&MPI_UINT8_T, 59},
                                                  {&MPI_INT16_T, 60},
                                                  {&MPI_UINT16_T, 61},
                                                  {&MPI_INT32_T, 62},
                                                  {&MPI_UINT32_T, 63},
                                                  {&MPI_INT64_T, 64},
                                                  {&MPI_UINT64_T, 65},
                                                  {&MPI_AINT, 66},
                                                  {&MPI_OFFSET, 67},
                                                  {&MPI_COUNT, 72},
                                                  {&MPI_WCHAR, 33},
                                                  {&MPI_C_BOOL, 68},
                                                  {&MPI_CXX_BOOL, 54},
                                                  {&MPI_FLOAT, 45},
                                                  {&MPI_DOUBLE, 46},
                                                  {&MPI_LONG_DOUBLE, 47},
                                                  {&MPI_C_FLOAT_COMPLEX, 69},
                                                  {&MPI_C_DOUBLE_COMPLEX, 70},
                                                  {&MPI_C_LONG_DOUBLE_COMPLEX, 71},
                                                  {&MPI_CXX_FLOAT_COMPLEX, 55},
                                                  {&MPI_CXX_DOUBLE_COMPLEX, 56},
                                                  {&MPI_CXX_LONG_DOUBLE_COMPLEX, 57},
                                                  {&MPI_CHARACTER, 5},
                                                  {&MPI_LOGICAL, 6},
                                                  {&MPI_INTEGER, 7},
                                                  {&MPI_INTEGER1, 8},
                                                  {&MPI_INTEGER2, 9},
                                                  {&MPI_INTEGER4, 10},
                                                  {&MPI_INTEGER8, 11},
                                                  {&MPI_REAL, 13},
                                                  {&MPI_REAL4, 14},
                                                  {&MPI_REAL8, 15},
                                                  {&MPI_REAL16, 16},
                                                  {&MPI_DOUBLE_PRECISION, 17},
                                                  {&MPI_COMPLEX, 18},
                                                  {&MPI_COMPLEX8, 19},
                                                  {&MPI_COMPLEX16, 20},
                                                  {&MPI_COMPLEX32, 21},
                                                  {&MPI_DOUBLE_COMPLEX, 22},
                                                  {&MPI_FLOAT_INT, 48},
                                                  {&MPI_DOUBLE_INT, 49},
                                                  {&MPI_LONG_INT, 51},
                                                  {&MPI_2INT, 52},
                                                  {&MPI_SHORT_INT, 53},
                                                  {&MPI_LONG_DOUBLE_INT, 50},
                                                  {&MPI_2REAL, 23},
                                                  {&MPI_2DOUBLE_PRECISION, 24},
                                                  {&MPI_2INTEGER, 25}};

struct NumberedOp {
  MPI_Op* handle;
  MPI_Fint number;
};
inline constexpr NumberedOp kOps[] = {
    {&MPI_OP_NULL, 0}, {&MPI_MAX, 1},     {&MPI_MIN, 2},     {&MPI_SUM, 3},      {&MPI_PROD, 4},
    {&MPI_LAND, 5},    {&MPI_BAND, 6},    {&MPI_LOR, 7},     {&MPI_BOR, 8},      {&MPI_LXOR, 9},
    {&MPI_BXOR, 10},   {&MPI_MAXLOC, 11}, {&MPI_MINLOC, 12}, {&MPI_REPLACE, 13}, {&MPI_NO_OP, 14}};

template <class Functions>
void load_datatypes(const Functions& mpi) {
  for (const auto& [handle, number] : kDatatypes) *handle = mpi.Type_f2c(number);
  for (const auto& [handle, number] : kOps) *handle = mpi.Op_f2c(number);
}

}  // namespace nagaya::mpi::openmpi
