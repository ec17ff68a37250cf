// SPDX-License-Identifier: BSD-3-Clause
// data.h - the data of a call, buffer, count, datatype, as one run of bytes or as few runs.
#pragma once

#include <cstdint>

#include "objects/type.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

struct Data {
  void* first = nullptr;  // of the one run; with `type`: the call's buffer
  size_t bytes = 0;
  const Type* type = nullptr;  // nullptr: the data are one run
};

// Returns an error class.
inline int describe(const void* buffer, size_t count, MPI_Datatype datatype, Data& out) {
  size_t element_bytes = 0;
  out.first = const_cast<void*>(buffer);
  if (is_basic(datatype, element_bytes)) [[likely]] {
    out.bytes = element_bytes * count;
    return MPI_SUCCESS;
  }
  const Type* const type = Type::find(datatype);
  if (type == nullptr) return MPI_ERR_TYPE;
  out.bytes = type->size() * count;
  if (type->is_one_run(count))
    // Not an offset to a pointer: the buffer may be MPI_BOTTOM.
    out.first = reinterpret_cast<void*>(reinterpret_cast<intptr_t>(buffer) + type->true_lb());
  else
    out.type = type;
  return MPI_SUCCESS;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
