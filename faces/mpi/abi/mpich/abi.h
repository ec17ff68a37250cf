// SPDX-License-Identifier: BSD-3-Clause
// abi.h - MPICH's binary interface (libmpi.so.12, libmpich.so.12; since 2014): MPICH 3 to 5, Intel
// MPI, MVAPICH, ParaStation. Source: mpi.h of MPICH 4.0.
//
// Handles are numbers: the kind in the upper bits, and in bits 8 to 15 the size of a basic type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace nagaya::mpi::mpich {

inline constexpr char kAbiName[] = "MPICH";
inline bool has_library_name(const char* name) {
  for (const char* const beginning : {"libmpi.so.12", "libmpich.so.12"})
    if (std::strncmp(name, beginning, std::strlen(beginning)) == 0) return true;
  return false;
}

using MPI_Aint = long;
using MPI_Count = long long;
using MPI_Offset = long long;
using MPI_Fint = int;

using MPI_Comm = int;
using MPI_Datatype = int;
using MPI_Errhandler = int;
using MPI_Group = int;
using MPI_Info = int;
using MPI_Message = int;
using MPI_Op = int;
using MPI_Request = int;
using MPI_Session = int;
using MPI_Win = int;
using MPI_File = struct File*;

struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;  // the lowest bit: it was cancelled
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
};

using MPI_Comm_copy_attr_function = int(MPI_Comm, int, void*, void*, void*, int*);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int, void*, void*);
using MPI_Type_copy_attr_function = int(MPI_Datatype, int, void*, void*, void*, int*);
using MPI_Type_delete_attr_function = int(MPI_Datatype, int, void*, void*);

inline constexpr MPI_Comm MPI_COMM_NULL = 0x04000000;
inline constexpr MPI_Comm MPI_COMM_WORLD = 0x44000000;
inline constexpr MPI_Comm MPI_COMM_SELF = 0x44000001;
inline constexpr MPI_Datatype MPI_DATATYPE_NULL = 0x0c000000;
inline constexpr MPI_Datatype MPI_BYTE = 0x4c00010d;
inline constexpr MPI_Datatype MPI_PACKED = 0x4c00010f;
// Those that can be reduced.
inline constexpr MPI_Datatype MPI_CHAR = 0x4c000101, MPI_SIGNED_CHAR = 0x4c000118,
                              MPI_UNSIGNED_CHAR = 0x4c000102, MPI_SHORT = 0x4c000203,
                              MPI_UNSIGNED_SHORT = 0x4c000204, MPI_INT = 0x4c000405,
                              MPI_UNSIGNED = 0x4c000406, MPI_LONG = 0x4c000807,
                              MPI_UNSIGNED_LONG = 0x4c000808, MPI_LONG_LONG = 0x4c000809,
                              MPI_UNSIGNED_LONG_LONG = 0x4c000819, MPI_INT8_T = 0x4c000137,
                              MPI_INT16_T = 0x4c000238, MPI_INT32_T = 0x4c000439,
                              MPI_INT64_T = 0x4c00083a, MPI_UINT8_T = 0x4c00013b,
                              MPI_UINT16_T = 0x4c00023c, MPI_UINT32_T = 0x4c00043d,
                              MPI_UINT64_T = 0x4c00083e, MPI_AINT = 0x4c000843,
                              MPI_OFFSET = 0x4c000844, MPI_COUNT = 0x4c000845,
                              MPI_INTEGER = 0x4c00041b, MPI_INTEGER1 = 0x4c00012d,
                              MPI_INTEGER2 = 0x4c00022f, MPI_INTEGER4 = 0x4c000430,
                              MPI_INTEGER8 = 0x4c000831;
inline constexpr MPI_Datatype MPI_FLOAT = 0x4c00040a, MPI_DOUBLE = 0x4c00080b,
                              MPI_LONG_DOUBLE = 0x4c00100c, MPI_REAL = 0x4c00041c,
                              MPI_DOUBLE_PRECISION = 0x4c00081f, MPI_REAL4 = 0x4c000427,
                              MPI_REAL8 = 0x4c000829, MPI_C_FLOAT_COMPLEX = 0x4c000840,
                              MPI_C_DOUBLE_COMPLEX = 0x4c001041,
                              MPI_C_LONG_DOUBLE_COMPLEX = 0x4c002042, MPI_COMPLEX = 0x4c00081e,
                              MPI_DOUBLE_COMPLEX = 0x4c001022, MPI_COMPLEX8 = 0x4c000828,
                              MPI_COMPLEX16 = 0x4c00102a, MPI_CXX_FLOAT_COMPLEX = 0x4c000834,
                              MPI_CXX_DOUBLE_COMPLEX = 0x4c001035,
                              MPI_CXX_LONG_DOUBLE_COMPLEX = 0x4c002036;
inline constexpr MPI_Datatype MPI_C_BOOL = 0x4c00013f, MPI_CXX_BOOL = 0x4c000133,
                              MPI_LOGICAL = 0x4c00041d;
inline constexpr MPI_Datatype MPI_FLOAT_INT = static_cast<int>(0x8c000000),
                              MPI_DOUBLE_INT = static_cast<int>(0x8c000001),
                              MPI_LONG_INT = static_cast<int>(0x8c000002),
                              MPI_SHORT_INT = static_cast<int>(0x8c000003), MPI_2INT = 0x4c000816,
                              MPI_LONG_DOUBLE_INT = static_cast<int>(0x8c000004),
                              MPI_2INTEGER = 0x4c000820, MPI_2REAL = 0x4c000821,
                              MPI_2DOUBLE_PRECISION = 0x4c001023;
inline constexpr MPI_Op MPI_OP_NULL = 0x18000000, MPI_MAX = 0x58000001, MPI_MIN = 0x58000002,
                        MPI_SUM = 0x58000003, MPI_PROD = 0x58000004, MPI_LAND = 0x58000005,
                        MPI_BAND = 0x58000006, MPI_LOR = 0x58000007, MPI_BOR = 0x58000008,
                        MPI_LXOR = 0x58000009, MPI_BXOR = 0x5800000a, MPI_MINLOC = 0x5800000b,
                        MPI_MAXLOC = 0x5800000c, MPI_REPLACE = 0x5800000d, MPI_NO_OP = 0x5800000e;
inline constexpr MPI_Message MPI_MESSAGE_NULL = 0x2c000000;
inline constexpr MPI_Message MPI_MESSAGE_NO_PROC = 0x6c000000;
inline constexpr MPI_Request MPI_REQUEST_NULL = 0x2c000000;

inline constexpr int MPI_ANY_SOURCE = -2;
inline constexpr int MPI_ANY_TAG = -1;
inline constexpr int MPI_PROC_NULL = -1;
inline constexpr int MPI_ROOT = -3;
inline constexpr int MPI_UNDEFINED = -32766;
inline constexpr int MPI_KEYVAL_INVALID = 0x24000000;
inline constexpr int MPI_BSEND_OVERHEAD = 96;
inline constexpr int MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1, MPI_THREAD_SERIALIZED = 2,
                     MPI_THREAD_MULTIPLE = 3;

inline constexpr int MPI_COMBINER_NAMED = 1, MPI_COMBINER_DUP = 2, MPI_COMBINER_CONTIGUOUS = 3,
                     MPI_COMBINER_VECTOR = 4, MPI_COMBINER_HVECTOR_INTEGER = 5,
                     MPI_COMBINER_HVECTOR = 6, MPI_COMBINER_INDEXED = 7,
                     MPI_COMBINER_HINDEXED_INTEGER = 8, MPI_COMBINER_HINDEXED = 9,
                     MPI_COMBINER_INDEXED_BLOCK = 10, MPI_COMBINER_STRUCT_INTEGER = 11,
                     MPI_COMBINER_STRUCT = 12, MPI_COMBINER_SUBARRAY = 13, MPI_COMBINER_DARRAY = 14,
                     MPI_COMBINER_F90_REAL = 15, MPI_COMBINER_F90_COMPLEX = 16,
                     MPI_COMBINER_F90_INTEGER = 17, MPI_COMBINER_RESIZED = 18,
                     MPI_COMBINER_HINDEXED_BLOCK = 19, MPI_COMBINER_VALUE_INDEX = 20;
inline constexpr int MPI_ORDER_C = 56, MPI_ORDER_FORTRAN = 57;
inline constexpr int MPI_DISTRIBUTE_BLOCK = 121, MPI_DISTRIBUTE_CYCLIC = 122,
                     MPI_DISTRIBUTE_NONE = 123, MPI_DISTRIBUTE_DFLT_DARG = -49767;
inline constexpr int MPI_GRAPH = 1, MPI_CART = 2, MPI_DIST_GRAPH = 3;

// Pointers, which cannot be constant expressions.
inline const void* const MPI_BOTTOM = nullptr;
inline void* const MPI_IN_PLACE = reinterpret_cast<void*>(-1);
inline void* const MPI_BUFFER_AUTOMATIC = reinterpret_cast<void*>(-2);
inline MPI_Status* const MPI_STATUS_IGNORE = reinterpret_cast<MPI_Status*>(1);
inline MPI_Status* const MPI_STATUSES_IGNORE = reinterpret_cast<MPI_Status*>(1);

inline constexpr int MPI_SUCCESS = 0, MPI_ERR_BUFFER = 1, MPI_ERR_COUNT = 2, MPI_ERR_TYPE = 3,
                     MPI_ERR_TAG = 4, MPI_ERR_COMM = 5, MPI_ERR_RANK = 6, MPI_ERR_ROOT = 7,
                     MPI_ERR_OP = 9, MPI_ERR_TOPOLOGY = 10, MPI_ERR_ARG = 12, MPI_ERR_TRUNCATE = 14,
                     MPI_ERR_OTHER = 15, MPI_ERR_INTERN = 16, MPI_ERR_IN_STATUS = 17,
                     MPI_ERR_PENDING = 18, MPI_ERR_REQUEST = 19, MPI_ERR_NO_MEM = 34,
                     MPI_ERR_UNSUPPORTED_OPERATION = 44;

// Nothing of it is known only when the library is loaded.
inline void load_constants(void* /*mpi*/) {}

// Leaves MPI_ERROR as it is.
inline void set_status(MPI_Status& status, int source, int tag, size_t bytes, bool is_cancelled) {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  status.count_lo = static_cast<int>(bytes);
  status.count_hi_and_cancelled =
      static_cast<int>((bytes >> 32) << 1) | static_cast<int>(is_cancelled);
}

// ---- own handles ----------------------------------------------------------------------------
// MPICH uses no numbers with these upper bits but the two null handles.

inline constexpr size_t kHeadBytes = 0;  // of an own object, which the MPI beneath may read
inline constexpr uint32_t kOwnRequestsFrom = 0x2c000001, kOwnRequestsMax = 0x03fffffe;

inline MPI_Request request_of(uint32_t index, void* /*object*/) {
  return static_cast<MPI_Request>(kOwnRequestsFrom + index);
}
inline uint32_t index_of_request(MPI_Request request) {
  return static_cast<uint32_t>(request) -
         kOwnRequestsFrom;  // not below kOwnRequestsMax: of the MPI beneath
}
inline MPI_Fint fortran_of_request(MPI_Request request, uint32_t) {
  return request;
}

// Returns true if one element of the type is one run of bytes from its address on, and so are
// several.
inline bool is_basic(MPI_Datatype type, size_t& bytes) {
  bytes = static_cast<size_t>(type >> 8) & 0xff;
  return (type & static_cast<int>(0xff000000)) == 0x4c000000 && bytes != 0;
}

// The key for tables of objects.
inline uintptr_t key_of(int handle) {
  return static_cast<uint32_t>(handle);
}

}  // namespace nagaya::mpi::mpich
