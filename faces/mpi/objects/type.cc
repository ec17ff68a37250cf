// SPDX-License-Identifier: BSD-3-Clause
#include "objects/type.h"

#include "objects/handle_table.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

HandleTable<const Type> types;

}  // namespace

const Type* Type::find(MPI_Datatype handle) {
  const Type* const known = types.find(key_of(handle));
  return known != nullptr ? known : describe_new(handle);
}

const Type* Type::describe_new(MPI_Datatype handle) {
  MPI_Count size = 0;
  MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
  if (handle == MPI_DATATYPE_NULL || beneath.Type_size_c(handle, &size) != MPI_SUCCESS) return nullptr;
  beneath.Type_get_extent(handle, &lb, &extent);
  beneath.Type_get_true_extent(handle, &true_lb, &true_extent);
  auto* const type = new Type;
  type->size_ = static_cast<size_t>(size);
  type->lb_ = lb;
  type->extent_ = extent;
  type->true_lb_ = true_lb;
  type->true_extent_ = static_cast<size_t>(true_extent);
  types.insert(key_of(handle), type);
  return type;
}

size_t Type::describe(const void*, size_t, nagaya_runs*) const { return 0; }
void Type::pack(const void*, size_t, size_t, void*) const {}
void Type::unpack(void*, size_t, size_t, const void*) const {}
void Type::hold() const {}
void Type::release() const {}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
