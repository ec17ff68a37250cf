// SPDX-License-Identifier: BSD-3-Clause
#include "objects/window_side.h"

#include <algorithm>
#include <utility>

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// Not an offset to a pointer: the buffer may be MPI_BOTTOM.
void* moved(void* address, ptrdiff_t offset) {
  return reinterpret_cast<void*>(reinterpret_cast<intptr_t>(address) + offset);
}

// For elements that are only moved, of types that nagaya/reduction.h does not have: one that is as
// large.
int find_moved_element(size_t bytes, nagaya_element_type& element) {
  static constexpr struct {
    size_t bytes;
    nagaya_element_type element;
  } kBySize[] = {{1, NAGAYA_ELEMENT_BYTE},
                 {2, NAGAYA_ELEMENT_INT16},
                 {4, NAGAYA_ELEMENT_INT32},
                 {8, NAGAYA_ELEMENT_INT64},
                 {16, NAGAYA_ELEMENT_COMPLEX_DOUBLE},
                 {32, NAGAYA_ELEMENT_COMPLEX_LONG_DOUBLE}};
  for (const auto& one : kBySize)
    if (one.bytes == bytes) {
      element = one.element;
      return MPI_SUCCESS;
    }
  return MPI_ERR_TYPE;
}

}  // namespace

template <class Describe>
void WindowSide::set_runs(Describe describe) {
  buffer_.runs = few_;
  buffer_.groups = describe(few_, kFewRuns);
  for (size_t most = 4 * kFewRuns; buffer_.groups == 0; most *= 4) {
    many_.resize(most);
    buffer_.runs = many_.data();
    buffer_.groups = describe(many_.data(), most);
  }
}

int WindowSide::set_derived(size_t count, MPI_Datatype datatype) {
  const Type* const type = Type::find(datatype);
  if (type == nullptr) return MPI_ERR_TYPE;
  buffer_.bytes = type->size() * count;
  if (buffer_.bytes == 0 || type->is_one_run(count)) {
    buffer_.first = moved(buffer_.first, type->true_lb());
    return MPI_SUCCESS;
  }
  set_runs([&](nagaya_runs* runs, size_t most) {
    return type->describe(buffer_.first, count, runs, most);
  });
  return MPI_SUCCESS;
}

int WindowSide::set_derived_elements(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                     nagaya_reduction operation, nagaya_element_type& element) {
  const Type* const type = Type::find(datatype);
  if (type != nullptr && type->size() == 0) return set(buffer, count, datatype);
  if (type == nullptr || type->elementary() == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  const nagaya_element_type* const known = find_element_type(type->elementary());
  if (known == nullptr) {
    if (operation != NAGAYA_REDUCE_REPLACE && operation != NAGAYA_REDUCE_NO_OP) return MPI_ERR_OP;
    const Type* const elementary = Type::find(type->elementary());
    if (const int error = find_moved_element(elementary->size(), element)) return error;
    return set(buffer, count, datatype);
  }
  element = *known;
  const reduction::Elements& elements = reduction::elements_of(element);
  if (elements.copy == nullptr) return set(buffer, count, datatype);
  const size_t bytes = Type::find(type->elementary())->size();  // without gaps
  const size_t all = type->size() * static_cast<size_t>(count) / bytes;
  buffer_ = {const_cast<void*>(buffer), all * elements.extent, nullptr, 0};
  if (all != 0)
    set_runs([&](nagaya_runs* runs, size_t most) {
      return type->describe_elements(buffer, static_cast<size_t>(count), bytes, elements.extent,
                                     runs, most);
    });
  return MPI_SUCCESS;
}

void WindowSide::shorten(size_t bytes) {
  buffer_.bytes = bytes;
  if (buffer_.runs == nullptr) return;
  std::vector<nagaya_runs> kept;
  for (const nagaya_runs* group = buffer_.runs; bytes != 0; ++group) {
    nagaya_runs whole = *group;
    whole.count = std::min(whole.count, bytes / whole.bytes);
    bytes -= whole.count * whole.bytes;
    if (whole.count != 0) kept.push_back(whole);
    if (whole.count == group->count || bytes == 0) continue;
    kept.push_back(
        {moved(whole.first, static_cast<ptrdiff_t>(whole.count) * whole.stride), bytes, 1, 0});
    bytes = 0;
  }
  many_ = std::move(kept);
  buffer_.runs = many_.empty() ? nullptr : many_.data();
  buffer_.groups = many_.size();
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
