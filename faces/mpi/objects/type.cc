// SPDX-License-Identifier: BSD-3-Clause
#include "objects/type.h"

#include <mutex>
#include <new>
#include <utility>

#include "objects/handle_table.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

HandleTable<const Type> types;

// Held while a type is described. Two threads that use a type for the first time must not both set
// its attribute: the second would delete the first one's.
std::mutex describing;

int copy_nothing(MPI_Datatype, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

}  // namespace

const Type* Type::find(MPI_Datatype handle) {
  const Type* const known = types.find(key_of(handle));
  if (known != nullptr) [[likely]]
    return known;
  if (handle == MPI_DATATYPE_NULL) return nullptr;
  try {
    const std::lock_guard guard(describing);
    return find_or_add(handle);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

const Type* Type::find_or_add(MPI_Datatype handle) {
  const Type* const known = types.find(key_of(handle));
  return known != nullptr ? known : add(handle);
}

const Type* Type::add(MPI_Datatype handle) {
  MPI_Aint lb = 0, extent = 0;
  if (beneath.Type_get_extent(handle, &lb, &extent) != MPI_SUCCESS) return nullptr;
  Contents made(handle);
  TypeLayout described{nullptr, extent, handle};
  if (made.is_predefined()) {
    described.layout = layout_of_predefined(handle, made);
  } else {
    std::vector<TypeLayout> old;
    for (const MPI_Datatype one : made.types()) {
      const Type* const type = find_or_add(one);
      if (type == nullptr) return nullptr;
      old.push_back(type->described_);
    }
    std::optional<TypeLayout> combined = combine(made, old);
    if (!combined) return nullptr;
    described = {std::move(combined->layout), extent, combined->elementary};
  }
  auto* const type = new Type(std::move(described), lb);
  if (!made.is_predefined() && !tie_to(handle, type)) {
    delete type;
    return nullptr;
  }
  types.insert(key_of(handle), type);
  return type;
}

// Makes the type end with the datatype. Returns false if the MPI beneath refuses.
bool Type::tie_to(MPI_Datatype handle, Type* type) {
  static const int keyval = [] {
    int made_key = MPI_KEYVAL_INVALID;
    beneath.Type_create_keyval(copy_nothing, end_by_attribute, &made_key, nullptr);
    return made_key;
  }();
  return beneath.Type_set_attr(handle, keyval, type) == MPI_SUCCESS;
}

int Type::end_by_attribute(MPI_Datatype handle, int, void* type, void*) {
  types.erase(key_of(handle));
  static_cast<const Type*>(type)->release();
  return MPI_SUCCESS;
}

Type::Type(TypeLayout described, ptrdiff_t lb)
    : described_(std::move(described)),
      lb_(lb),
      is_one_run_(described_.layout->is_one_run(1, 0)),
      is_dense_(described_.layout->is_one_run(2, described_.extent)) {}

size_t Type::describe(const void* buffer, size_t count, nagaya_runs* runs, size_t most) const {
  return described_.layout->describe(const_cast<void*>(buffer), count, described_.extent, runs,
                                     most);
}

size_t Type::describe_elements(const void* buffer, size_t count, size_t data_bytes,
                               size_t element_bytes, nagaya_runs* runs, size_t most) const {
  return described_.layout->describe_items(const_cast<void*>(buffer), count, described_.extent,
                                           data_bytes, element_bytes, runs, most);
}

void Type::pack(const void* buffer, size_t first, size_t bytes, void* to) const {
  described_.layout->pack(buffer, described_.extent, first, bytes, to);
}

void Type::unpack(void* buffer, size_t first, size_t bytes, const void* from) const {
  described_.layout->unpack(buffer, described_.extent, first, bytes, from);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
