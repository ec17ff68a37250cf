// SPDX-License-Identifier: BSD-3-Clause
// abi.h - Open MPI's binary interface (libmpi.so.40): Open MPI 3.0 to 5.0. Source: mpi.h of 4.1
// and 5.0. Contract: contract.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "abi/own_addresses.h"
#include "basic_types.h"
#include "datatypes.h"
#include "handles.h"
#include "windows.h"

namespace nagaya::mpi::openmpi {

inline constexpr char kAbiName[] = "Open MPI";
inline constexpr bool kChecksData = false;
inline bool is_interface_of(std::string_view soname, void* /*library*/) {
  return soname == "libmpi.so.40";
}

// Set by load_constants(): see datatypes.h.
inline MPI_Comm MPI_COMM_NULL, MPI_COMM_WORLD, MPI_COMM_SELF;
inline MPI_Message MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC;
inline MPI_Request MPI_REQUEST_NULL;
inline MPI_Info MPI_INFO_NULL;
inline BasicTypes basic_types;

inline constexpr int MPI_ANY_SOURCE = -1;
inline constexpr int MPI_ANY_TAG = -1;
inline constexpr int MPI_PROC_NULL = -2;
inline constexpr int MPI_ROOT = -4;
inline constexpr int MPI_UNDEFINED = -32766;
inline constexpr int MPI_KEYVAL_INVALID = -1;
inline constexpr int MPI_BSEND_OVERHEAD = 128;
inline constexpr int MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1, MPI_THREAD_SERIALIZED = 2,
                     MPI_THREAD_MULTIPLE = 3;
inline constexpr int MPI_IDENT = 0, MPI_CONGRUENT = 1, MPI_SIMILAR = 2, MPI_UNEQUAL = 3;
inline constexpr int MPI_CART = 1, MPI_GRAPH = 2, MPI_DIST_GRAPH = 3;
inline constexpr int MPI_ORDER_C = 0, MPI_ORDER_FORTRAN = 1;
inline constexpr int MPI_DISTRIBUTE_BLOCK = 0, MPI_DISTRIBUTE_CYCLIC = 1, MPI_DISTRIBUTE_NONE = 2,
                     MPI_DISTRIBUTE_DFLT_DARG = -1;
inline constexpr int MPI_COMBINER_NAMED = 0, MPI_COMBINER_DUP = 1, MPI_COMBINER_CONTIGUOUS = 2,
                     MPI_COMBINER_VECTOR = 3, MPI_COMBINER_HVECTOR_INTEGER = 4,
                     MPI_COMBINER_HVECTOR = 5, MPI_COMBINER_INDEXED = 6,
                     MPI_COMBINER_HINDEXED_INTEGER = 7, MPI_COMBINER_HINDEXED = 8,
                     MPI_COMBINER_INDEXED_BLOCK = 9, MPI_COMBINER_STRUCT_INTEGER = 10,
                     MPI_COMBINER_STRUCT = 11, MPI_COMBINER_SUBARRAY = 12, MPI_COMBINER_DARRAY = 13,
                     MPI_COMBINER_F90_REAL = 14, MPI_COMBINER_F90_COMPLEX = 15,
                     MPI_COMBINER_F90_INTEGER = 16, MPI_COMBINER_RESIZED = 17,
                     MPI_COMBINER_HINDEXED_BLOCK = 18,
                     MPI_COMBINER_VALUE_INDEX = -1;  // it has none

inline const void* const MPI_BOTTOM = nullptr;
inline void* const MPI_IN_PLACE = reinterpret_cast<void*>(1);
inline void* const MPI_BUFFER_AUTOMATIC = reinterpret_cast<void*>(-1);  // it has none
inline MPI_Status* const MPI_STATUS_IGNORE = nullptr;
inline MPI_Status* const MPI_STATUSES_IGNORE = nullptr;
// Open MPI's own is a function, and it refuses nullptr.
inline int MPI_COMM_NULL_COPY_FN(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return 0;
}

inline constexpr int MPI_SUCCESS = 0, MPI_ERR_BUFFER = 1, MPI_ERR_COUNT = 2, MPI_ERR_TYPE = 3,
                     MPI_ERR_TAG = 4, MPI_ERR_COMM = 5, MPI_ERR_RANK = 6, MPI_ERR_REQUEST = 7,
                     MPI_ERR_ROOT = 8, MPI_ERR_GROUP = 9, MPI_ERR_OP = 10, MPI_ERR_TOPOLOGY = 11,
                     MPI_ERR_DIMS = 12, MPI_ERR_ARG = 13, MPI_ERR_UNKNOWN = 14,
                     MPI_ERR_TRUNCATE = 15, MPI_ERR_OTHER = 16, MPI_ERR_INTERN = 17,
                     MPI_ERR_IN_STATUS = 18, MPI_ERR_PENDING = 19, MPI_ERR_NO_MEM = 39,
                     MPI_ERR_UNSUPPORTED_OPERATION = 52;

template <class Functions>
void load_basic_types(const Functions& mpi) {
  for (const auto& [handle, number] : kDatatypes) {
    int bytes = 0;
    MPI_Aint lb = 0, extent = 0;
    if (*handle == MPI_DATATYPE_NULL || mpi.Type_size(*handle, &bytes) != MPI_SUCCESS) continue;
    mpi.Type_get_extent(*handle, &lb, &extent);
    if (bytes > 0 && lb == 0 && extent == bytes)
      basic_types.insert(key_of(*handle), static_cast<size_t>(bytes));
  }
}

template <class Functions>
void load_constants(const Functions& mpi) {
  MPI_COMM_WORLD = mpi.Comm_f2c(0);
  MPI_COMM_SELF = mpi.Comm_f2c(1);
  MPI_COMM_NULL = mpi.Comm_f2c(2);
  MPI_MESSAGE_NULL = mpi.Message_f2c(0);
  MPI_MESSAGE_NO_PROC = mpi.Message_f2c(1);
  MPI_REQUEST_NULL = mpi.Request_f2c(0);
  MPI_INFO_NULL = mpi.Info_f2c(0);
  MPI_WIN_NULL = mpi.Win_f2c(0);
  MPI_ERRORS_ARE_FATAL = mpi.Errhandler_f2c(1);
  MPI_ERRORS_RETURN = mpi.Errhandler_f2c(2);
  load_datatypes(mpi);
  load_basic_types(mpi);
}

inline void set_status(MPI_Status& status, int source, int tag, size_t bytes, bool is_cancelled) {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  status.is_cancelled = is_cancelled;
  status.bytes = bytes;
}

inline bool is_basic(MPI_Datatype type, size_t& bytes) {
  bytes = basic_types.bytes_of(key_of(type));
  return bytes != 0;
}

// ---- own requests and messages: addresses of our objects. Fortran's functions read the number of
// a request from the object, at an offset that releases differ in; all ints of the head are that
// number.

inline constexpr size_t kHeadBytes = 256;

}  // namespace nagaya::mpi::openmpi
