// SPDX-License-Identifier: BSD-3-Clause
// abi.h - MPICH's binary interface (libmpi.so.12, libmpich.so.12; since 2014): MPICH 3 to 5, Intel
// MPI, MVAPICH, ParaStation, Cray MPICH (libmpi_gnu.so.12 and others). Source: mpi.h of MPICH 4.0.
// Contract: contract.h.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "datatypes.h"
#include "handles.h"
#include "windows.h"

namespace nagaya::mpi::mpich {

inline constexpr char kAbiName[] = "MPICH";
inline constexpr bool kChecksData = true;
// Open MPI 1.10 has a libmpi.so.12, too.
inline bool is_interface_of(std::string_view soname, void* library) {
  const bool has_name = soname == "libmpi.so.12" || soname == "libmpich.so.12" ||
                        (soname.starts_with("libmpi_") && soname.ends_with(".so.12"));
  return has_name && ::dlsym(library, "ompi_mpi_comm_world") == nullptr;
}

inline constexpr MPI_Comm MPI_COMM_NULL = 0x04000000;
inline constexpr MPI_Comm MPI_COMM_WORLD = 0x44000000;
inline constexpr MPI_Comm MPI_COMM_SELF = 0x44000001;
inline constexpr MPI_Message MPI_MESSAGE_NULL = 0x2c000000;
inline constexpr MPI_Message MPI_MESSAGE_NO_PROC = 0x6c000000;
inline constexpr MPI_Request MPI_REQUEST_NULL = 0x2c000000;
inline constexpr MPI_Info MPI_INFO_NULL = 0x1c000000;

inline constexpr int MPI_ANY_SOURCE = -2;
inline constexpr int MPI_ANY_TAG = -1;
inline constexpr int MPI_PROC_NULL = -1;
inline constexpr int MPI_ROOT = -3;
inline constexpr int MPI_UNDEFINED = -32766;
inline constexpr int MPI_KEYVAL_INVALID = 0x24000000;
inline constexpr int MPI_BSEND_OVERHEAD = 96;
inline constexpr int MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1, MPI_THREAD_SERIALIZED = 2,
                     MPI_THREAD_MULTIPLE = 3;
inline constexpr int MPI_IDENT = 0, MPI_CONGRUENT = 1, MPI_SIMILAR = 2, MPI_UNEQUAL = 3;
inline constexpr int MPI_GRAPH = 1, MPI_CART = 2, MPI_DIST_GRAPH = 3;
inline constexpr int MPI_ORDER_C = 56, MPI_ORDER_FORTRAN = 57;
inline constexpr int MPI_DISTRIBUTE_BLOCK = 121, MPI_DISTRIBUTE_CYCLIC = 122,
                     MPI_DISTRIBUTE_NONE = 123, MPI_DISTRIBUTE_DFLT_DARG = -49767;
inline constexpr int MPI_COMBINER_NAMED = 1, MPI_COMBINER_DUP = 2, MPI_COMBINER_CONTIGUOUS = 3,
                     MPI_COMBINER_VECTOR = 4, MPI_COMBINER_HVECTOR_INTEGER = 5,
                     MPI_COMBINER_HVECTOR = 6, MPI_COMBINER_INDEXED = 7,
                     MPI_COMBINER_HINDEXED_INTEGER = 8, MPI_COMBINER_HINDEXED = 9,
                     MPI_COMBINER_INDEXED_BLOCK = 10, MPI_COMBINER_STRUCT_INTEGER = 11,
                     MPI_COMBINER_STRUCT = 12, MPI_COMBINER_SUBARRAY = 13, MPI_COMBINER_DARRAY = 14,
                     MPI_COMBINER_F90_REAL = 15, MPI_COMBINER_F90_COMPLEX = 16,
                     MPI_COMBINER_F90_INTEGER = 17, MPI_COMBINER_RESIZED = 18,
                     MPI_COMBINER_HINDEXED_BLOCK = 19, MPI_COMBINER_VALUE_INDEX = 20;

// Pointers, which cannot be constant expressions.
inline const void* const MPI_BOTTOM = nullptr;
inline void* const MPI_IN_PLACE = reinterpret_cast<void*>(-1);
inline void* const MPI_BUFFER_AUTOMATIC = reinterpret_cast<void*>(-2);
inline MPI_Status* const MPI_STATUS_IGNORE = reinterpret_cast<MPI_Status*>(1);
inline MPI_Status* const MPI_STATUSES_IGNORE = reinterpret_cast<MPI_Status*>(1);
inline MPI_Comm_copy_attr_function* const MPI_COMM_NULL_COPY_FN = nullptr;

inline constexpr int MPI_SUCCESS = 0, MPI_ERR_BUFFER = 1, MPI_ERR_COUNT = 2, MPI_ERR_TYPE = 3,
                     MPI_ERR_TAG = 4, MPI_ERR_COMM = 5, MPI_ERR_RANK = 6, MPI_ERR_ROOT = 7,
                     MPI_ERR_GROUP = 8, MPI_ERR_OP = 9, MPI_ERR_TOPOLOGY = 10, MPI_ERR_DIMS = 11,
                     MPI_ERR_ARG = 12, MPI_ERR_UNKNOWN = 13, MPI_ERR_TRUNCATE = 14,
                     MPI_ERR_OTHER = 15, MPI_ERR_INTERN = 16, MPI_ERR_IN_STATUS = 17,
                     MPI_ERR_PENDING = 18, MPI_ERR_REQUEST = 19, MPI_ERR_NO_MEM = 34,
                     MPI_ERR_UNSUPPORTED_OPERATION = 44;

template <class Functions>
void load_constants(const Functions& /*mpi*/) {}

inline void set_status(MPI_Status& status, int source, int tag, size_t bytes, bool is_cancelled) {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  status.count_lo = static_cast<int>(bytes);
  status.count_hi_and_cancelled =
      static_cast<int>((bytes >> 32) << 1) | static_cast<int>(is_cancelled);
}

inline bool is_basic(MPI_Datatype type, size_t& bytes) {
  bytes = static_cast<size_t>(type >> 8) & 0xff;
  return (type & static_cast<int>(0xff000000)) == 0x4c000000 && bytes != 0;
}

inline uintptr_t key_of(int handle) {
  return static_cast<uint32_t>(handle);
}

// ---- own requests and messages: MPICH has no numbers with these upper bits but the two null
// handles.

inline constexpr size_t kHeadBytes = 0;
inline constexpr MPI_Fint kFirstOwnFortran = 0x2c000001;
inline constexpr uint32_t kOwnRequestsMax = 0x03fffffe;

template <class Handle>
Handle own_handle(uint32_t index, const void* /*object*/) {
  return kFirstOwnFortran + static_cast<Handle>(index);
}
inline size_t index_of_own(int handle, const void* /*first*/, size_t /*object_bytes*/) {
  return static_cast<uint32_t>(handle) - static_cast<uint32_t>(kFirstOwnFortran);
}

}  // namespace nagaya::mpi::mpich
