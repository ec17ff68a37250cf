// SPDX-License-Identifier: BSD-3-Clause
// array_inquiry.cc - the functions of xmp/xmp.h about distributed arrays, and their memory.
#include <algorithm>
#include <string>

#include "faces/xmp/runtime/answers.h"
#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/failure.h"

using namespace nagaya::xmp;

namespace {

// Returns the array that the descriptor, its state, belongs to; nullptr: `d` is no array.
const nagaya_xmp_array* array_of(xmp_desc_t d) {
  const auto* const state = object_of<nagaya_xmp_array_state>(d, XMP_DESC_ARRAY);
  return state == nullptr ? nullptr : state->array;
}

// Stores the answer of ask(array, d) for dimension `dim` of an array, counted from 1 in C's
// order.
int answer_of_array(xmp_desc_t d, int dim, int* out, auto ask) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr || dim < 1 || static_cast<size_t>(dim) > array->state->dimensions())
    return store(std::nullopt, out);
  return store(ask(*array, static_cast<size_t>(dim - 1)), out);
}

}  // namespace

int xmp_align_axis(xmp_desc_t d, int dim, int* axis) {
  return answer_of_array(d, dim, axis, [](const auto& array, size_t n) {
    return program_dimension(array.state->with->dimensions(), array.state->alignments[n].dimension);
  });
}

int xmp_align_offset(xmp_desc_t d, int dim, int* offset) {
  return answer_of_array(d, dim, offset, [](const auto& array, size_t n) {
    const nagaya_xmp_alignment& alignment = array.state->alignments[n];
    return alignment.dimension < 0 ? Answer() : alignment.offset;
  });
}

int xmp_align_replicated(xmp_desc_t d, int dim, int* replicated) {
  *replicated = XMP_UNDEFINED;
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr) return XMP_FAILURE;
  const auto dimensions = static_cast<int>(array->state->with->dimensions());
  if (dim < 1 || dim > dimensions) return XMP_FAILURE;
  *replicated = std::ranges::none_of(array->state->alignments, [&](const auto& alignment) {
    return alignment.dimension == dimensions - dim;
  });
  return 0;
}

int xmp_align_template(xmp_desc_t d, xmp_desc_t* dt) {
  const nagaya_xmp_array* const array = array_of(d);
  *dt = array == nullptr ? nullptr : nagaya_xmp_descriptor_of_template(array->state->with);
  return array == nullptr ? XMP_FAILURE : 0;
}

int xmp_array_ndims(xmp_desc_t d, int* ndims) {
  return answer_of_array(d, 1, ndims,
                         [](const auto& array, size_t) { return array.state->dimensions(); });
}

int xmp_array_lbound(xmp_desc_t d, int dim, int* lbound) {
  return answer_of_array(d, dim, lbound, [](const auto&, size_t) { return 0; });
}

int xmp_array_ubound(xmp_desc_t d, int dim, int* ubound) {
  return answer_of_array(d, dim, ubound,
                         [](const auto& array, size_t n) { return array.state->extents[n] - 1; });
}

int xmp_array_lshadow(xmp_desc_t d, int dim, int* lshadow) {
  return answer_of_array(d, dim, lshadow, [](const auto& array, size_t n) {
    return array.state->shadow_widths(n).first;
  });
}

int xmp_array_ushadow(xmp_desc_t d, int dim, int* ushadow) {
  return answer_of_array(d, dim, ushadow, [](const auto& array, size_t n) {
    return array.state->shadow_widths(n).second;
  });
}

size_t xmp_array_type_size(xmp_desc_t d) {
  const nagaya_xmp_array* const array = array_of(d);
  return array == nullptr ? 0 : array->state->element_bytes;
}

int xmp_array_gsize(xmp_desc_t d, int dim) {
  int size;
  answer_of_array(d, dim, &size,
                  [](const auto& array, size_t n) { return array.state->extents[n]; });
  return size;
}

// The sizes are a list, because a variable argument may be an int or a long.
long nagaya_xmp_length_of(const nagaya_xmp_array* of) {
  return (of->state->has_extents() ? *of->state : state_of(nullptr, *of)).extents.front();
}

void* nagaya_xmp_malloc(xmp_desc_t d, size_t count, const long size[]) {
  const auto* const state = object_of<nagaya_xmp_array_state>(d, XMP_DESC_ARRAY);
  if (state == nullptr || state->dimensions() != count)
    fail(nullptr, "xmp_malloc: the descriptor is of no aligned pointer of " +
                      std::to_string(count) + " dimensions");
  nagaya_xmp_array& array = const_cast<nagaya_xmp_array&>(*state->array);
  allocate_blocks(array, size);
  return array.base;
}

void xmp_free(xmp_desc_t d) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array != nullptr) free_blocks(const_cast<nagaya_xmp_array&>(*array));
}

int xmp_array_laddr(xmp_desc_t d, void** laddr) {
  const nagaya_xmp_array* const array = array_of(d);
  *laddr = array == nullptr || array->state->blocks == nullptr ? nullptr : array->base;
  return *laddr == nullptr ? XMP_FAILURE : 0;
}

int xmp_array_lsize(xmp_desc_t d, int dim, int* lsize) {
  return answer_of_array(d, dim, lsize, [](const auto& array, size_t n) -> Answer {
    if (array.state->blocks == nullptr) return std::nullopt;
    const nagaya_interval own = array.state->own_part(n);
    return own.high - own.low + 1;
  });
}

int xmp_array_lda(xmp_desc_t d, int* lda) {
  return answer_of_array(d, 2, lda, [](const auto& array, size_t) -> Answer {
    const bool has_rows = array.state->dimensions() == 2 && array.state->blocks != nullptr;
    return has_rows ? array.count[1] : Answer();
  });
}

int xmp_array_lead_dim(xmp_desc_t d, int size[]) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr || array->state->blocks == nullptr) return XMP_FAILURE;
  long elements = 1;
  int status = 0;
  for (size_t n = array->state->dimensions(); n-- != 0; elements *= array->count[n])
    if (store(elements, &size[n]) != 0) status = XMP_FAILURE;
  return status;
}

int xmp_array_gtol(xmp_desc_t d, int dim, int g_idx, int* lidx) {
  return answer_of_array(d, dim, lidx, [&](const auto& array, size_t n) -> Answer {
    if (array.state->blocks == nullptr) return std::nullopt;
    const long at = array.state->has_places(n) ? nagaya_xmp_place(array.cycle[n], g_idx) : g_idx;
    return at - array.first[n];
  });
}

void* nagaya_xmp_element(xmp_desc_t d, const long index[]) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr || array->state->blocks == nullptr) return nullptr;
  return nagaya_array_element(array->state->blocks, index);
}
