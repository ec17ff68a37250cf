// SPDX-License-Identifier: BSD-3-Clause
// datatype.h - the datatype of a call, looked up once.
#pragma once

#include "objects/type.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

struct Datatype {
  size_t bytes = 0;  // of the data of one element
  ptrdiff_t extent = 0;
  const Type* type = nullptr;  // nullptr: a basic one, whose elements lie close together

  bool is_one_run(size_t count) const { return type == nullptr || type->is_one_run(count); }
  // Whether elements can be copied as bytes, `extent` for each.
  bool has_gaps() const {
    return type != nullptr &&
           !(type->is_one_run(2) && type->true_lb() == 0 && static_cast<size_t>(extent) == bytes);
  }
  void hold() const {
    if (type != nullptr) type->hold();
  }
  void release() const {
    if (type != nullptr) type->release();
  }
};

// Returns an error class.
inline int describe(MPI_Datatype datatype, Datatype& out) {
  if (is_basic(datatype, out.bytes)) [[likely]] {
    out.extent = static_cast<ptrdiff_t>(out.bytes);
    return MPI_SUCCESS;
  }
  out.type = Type::find(datatype);
  if (out.type == nullptr) return MPI_ERR_TYPE;
  out.bytes = out.type->size();
  out.extent = out.type->extent();
  return MPI_SUCCESS;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
