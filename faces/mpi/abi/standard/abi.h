// SPDX-License-Identifier: BSD-3-Clause
// abi.h - the binary interface of the standard (libmpi_abi.so): MPICH 5, Intel MPI 2021.18. Source:
// MPI 5.0, mpi_abi.h of MPICH 5.0.2. Contract: contract.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "abi/own_addresses.h"
#include "datatypes.h"
#include "handles.h"
#include "windows.h"

namespace nagaya::mpi::standard {

inline constexpr char kAbiName[] = "MPI 5.0";
inline constexpr bool kChecksData = true;
inline bool is_interface_of(std::string_view soname, void* /*library*/) {
  return soname.starts_with("libmpi_abi.so");
}

inline const MPI_Comm MPI_COMM_NULL = handle<MPI_Comm>(0x100);
inline const MPI_Comm MPI_COMM_WORLD = handle<MPI_Comm>(0x101);
inline const MPI_Comm MPI_COMM_SELF = handle<MPI_Comm>(0x102);
inline const MPI_Message MPI_MESSAGE_NULL = handle<MPI_Message>(0x128);
inline const MPI_Message MPI_MESSAGE_NO_PROC = handle<MPI_Message>(0x129);
inline const MPI_Request MPI_REQUEST_NULL = handle<MPI_Request>(0x180);
inline const MPI_Info MPI_INFO_NULL = handle<MPI_Info>(0x130);

inline constexpr int MPI_ANY_SOURCE = -1;
inline constexpr int MPI_ANY_TAG = -2;
inline constexpr int MPI_PROC_NULL = -3;
inline constexpr int MPI_ROOT = -4;
inline constexpr int MPI_UNDEFINED = -32766;
inline constexpr int MPI_KEYVAL_INVALID = 0;
inline constexpr int MPI_BSEND_OVERHEAD = 512;
inline constexpr int MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1024,
                     MPI_THREAD_SERIALIZED = 2048, MPI_THREAD_MULTIPLE = 4096;
inline constexpr int MPI_IDENT = 201, MPI_CONGRUENT = 202, MPI_SIMILAR = 203, MPI_UNEQUAL = 204;
inline constexpr int MPI_CART = 211, MPI_GRAPH = 212, MPI_DIST_GRAPH = 213;
inline constexpr int MPI_ORDER_C = 12, MPI_ORDER_FORTRAN = 15;
inline constexpr int MPI_DISTRIBUTE_NONE = 16, MPI_DISTRIBUTE_BLOCK = 17,
                     MPI_DISTRIBUTE_CYCLIC = 18, MPI_DISTRIBUTE_DFLT_DARG = 19;
inline constexpr int MPI_COMBINER_NAMED = 101, MPI_COMBINER_DUP = 102,
                     MPI_COMBINER_CONTIGUOUS = 103, MPI_COMBINER_VECTOR = 104,
                     MPI_COMBINER_HVECTOR = 105, MPI_COMBINER_INDEXED = 106,
                     MPI_COMBINER_HINDEXED = 107, MPI_COMBINER_INDEXED_BLOCK = 108,
                     MPI_COMBINER_HINDEXED_BLOCK = 109, MPI_COMBINER_STRUCT = 110,
                     MPI_COMBINER_SUBARRAY = 111, MPI_COMBINER_DARRAY = 112,
                     MPI_COMBINER_F90_REAL = 113, MPI_COMBINER_F90_COMPLEX = 114,
                     MPI_COMBINER_F90_INTEGER = 115, MPI_COMBINER_RESIZED = 116,
                     MPI_COMBINER_VALUE_INDEX = 117;
// Removed by MPI 3.0.
inline constexpr int MPI_COMBINER_HVECTOR_INTEGER = -1, MPI_COMBINER_HINDEXED_INTEGER = -2,
                     MPI_COMBINER_STRUCT_INTEGER = -3;

inline const void* const MPI_BOTTOM = nullptr;
inline void* const MPI_IN_PLACE = reinterpret_cast<void*>(1);
inline void* const MPI_BUFFER_AUTOMATIC = reinterpret_cast<void*>(2);
inline MPI_Status* const MPI_STATUS_IGNORE = nullptr;
inline MPI_Status* const MPI_STATUSES_IGNORE = nullptr;
inline MPI_Comm_copy_attr_function* const MPI_COMM_NULL_COPY_FN = nullptr;

inline constexpr int MPI_SUCCESS = 0, MPI_ERR_BUFFER = 1, MPI_ERR_COUNT = 2, MPI_ERR_TYPE = 3,
                     MPI_ERR_TAG = 4, MPI_ERR_COMM = 5, MPI_ERR_RANK = 6, MPI_ERR_REQUEST = 7,
                     MPI_ERR_ROOT = 8, MPI_ERR_GROUP = 9, MPI_ERR_OP = 10, MPI_ERR_TOPOLOGY = 11,
                     MPI_ERR_DIMS = 12, MPI_ERR_ARG = 13, MPI_ERR_UNKNOWN = 14,
                     MPI_ERR_TRUNCATE = 15, MPI_ERR_OTHER = 16, MPI_ERR_INTERN = 17,
                     MPI_ERR_PENDING = 18, MPI_ERR_IN_STATUS = 19, MPI_ERR_NO_MEM = 39,
                     MPI_ERR_UNSUPPORTED_OPERATION = 55;

// How a status holds the count of bytes is the library's own.
inline int (*status_set_elements)(MPI_Status*, MPI_Datatype, MPI_Count) = nullptr;
inline int (*status_set_cancelled)(MPI_Status*, int) = nullptr;

template <class Functions>
void load_constants(const Functions& mpi) {
  status_set_elements = mpi.Status_set_elements_c;
  status_set_cancelled = mpi.Status_set_cancelled;
}

inline void set_status(MPI_Status& status, int source, int tag, size_t bytes, bool is_cancelled) {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  for (int& word : status.of_library) word = 0;
  status_set_elements(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  if (is_cancelled) status_set_cancelled(&status, 1);
}

// Sizes of the types of C that have the numbers 0x200 to 0x23f; 0: it is another one.
inline constexpr auto kBytesOfC = [] {
  std::array<uint8_t, 0x40> bytes{};
  bytes[0x01] = bytes[0x02] = bytes[0x03] = 8;  // MPI_AINT, MPI_COUNT, MPI_OFFSET
  bytes[0x07] = 1;                              // MPI_PACKED
  bytes[0x08] = bytes[0x0c] = sizeof(short);
  bytes[0x09] = bytes[0x0d] = sizeof(int);
  bytes[0x0a] = bytes[0x0e] = sizeof(long);
  bytes[0x0b] = bytes[0x0f] = sizeof(long long);
  bytes[0x10] = sizeof(float);
  bytes[0x14] = sizeof(double);
  bytes[0x20] = sizeof(long double);
  bytes[0x12] = bytes[0x13] = 2 * sizeof(float);  // complex ones, of C and C++
  bytes[0x16] = bytes[0x17] = 2 * sizeof(double);
  bytes[0x24] = bytes[0x25] = 2 * sizeof(long double);
  bytes[0x38] = bytes[0x39] = sizeof(bool);
  bytes[0x3c] = sizeof(wchar_t);
  return bytes;
}();

// A number from 0x240 to 0x27f or 0x2c0 to 0x2ff has the logarithm of the size in bits 3 to 5.
inline bool is_basic(MPI_Datatype type, size_t& bytes) {
  const uintptr_t number = key_of(type);
  if (number - 0x200 >= 0x100) return false;
  bytes = (number & 0x40) != 0 ? size_t{1} << (number >> 3 & 7)
          : number < 0x240     ? kBytesOfC[number & 0x3f]
                               : 0;
  return bytes != 0;
}

// ---- own requests and messages: addresses of our objects, which no function of the MPI beneath
// may see.

inline constexpr size_t kHeadBytes = 0;

}  // namespace nagaya::mpi::standard
