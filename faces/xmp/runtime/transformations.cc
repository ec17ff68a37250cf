// SPDX-License-Identifier: BSD-3-Clause
// transformations.cc - the transformational functions of xmp.h, and the checks of their arguments.
#include "faces/xmp/runtime/transformations.h"

#include <cstdint>
#include <cstring>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"

namespace nagaya::xmp {

void Call::refuse(const std::string& what) const {
  fail("", name_ + ": " + what);
}

const nagaya_xmp_array_state& Call::array(xmp_desc_t descriptor,
                                          const std::string& argument) const {
  const auto* const object = static_cast<const Descriptor*>(descriptor);
  if (object == nullptr || object->kind != XMP_DESC_ARRAY)
    refuse("its argument " + argument + " is no distributed array: give xmp_desc_of(name)");
  const auto& state = static_cast<const nagaya_xmp_array_state&>(*object);
  state_of("", *state.array);
  need(Executing::now().contains(state.with->onto->set),
       "not all nodes of array " + state.name + " execute this");
  return state;
}

const nagaya_xmp_array_state& Call::vector(xmp_desc_t descriptor,
                                           const std::string& argument) const {
  const nagaya_xmp_array_state& found = array(descriptor, argument);
  need(found.dimensions() == 1, found.name + " must have one dimension");
  return found;
}

const nagaya_xmp_array_state& Call::matrix(xmp_desc_t descriptor,
                                           const std::string& argument) const {
  const nagaya_xmp_array_state& found = array(descriptor, argument);
  need(found.dimensions() == 2, found.name + " must have two dimensions");
  return found;
}

void Call::need_same_elements(const nagaya_xmp_array_state& a,
                              const nagaya_xmp_array_state& b) const {
  need(a.element_bytes == b.element_bytes && a.type == b.type,
       "the elements of " + a.name + " and " + b.name + " have different types");
}

void Call::need_same_layout(const nagaya_xmp_array_state& a,
                            const nagaya_xmp_array_state& b) const {
  bool are_same = a.extents == b.extents && a.with->has_same_layout(*b.with);
  for (size_t d = 0; are_same && d < a.dimensions(); ++d)
    are_same = a.alignments[d].dimension == b.alignments[d].dimension &&
               a.alignments[d].offset == b.alignments[d].offset;
  need(are_same, a.name + " and " + b.name + " must have one shape and alignment");
}

long Call::integer_at(const nagaya_xmp_array_state& array, const std::byte* at) const {
  const auto read = [at]<class T>(T value) -> long {
    std::memcpy(&value, at, sizeof value);
    return static_cast<long>(value);
  };
  switch (array.type) {
    case NAGAYA_XMP_BOOL:
    case NAGAYA_XMP_UNSIGNED_CHAR:
      return read(uint8_t{});
    case NAGAYA_XMP_CHAR:
      return read(int8_t{});
    case NAGAYA_XMP_SHORT:
      return read(int16_t{});
    case NAGAYA_XMP_UNSIGNED_SHORT:
      return read(uint16_t{});
    case NAGAYA_XMP_INT:
      return read(int32_t{});
    case NAGAYA_XMP_UNSIGNED:
      return read(uint32_t{});
    case NAGAYA_XMP_LONG:
    case NAGAYA_XMP_UNSIGNED_LONG:
      return read(int64_t{});
    default:
      refuse("the elements of " + array.name + " must be integers");
  }
}

}  // namespace nagaya::xmp

using nagaya::xmp::Call;

void xmp_scatter(xmp_desc_t x, xmp_desc_t a, ...) {
  va_list list;
  va_start(list, a);
  nagaya::xmp::scatter(Call("xmp_scatter"), x, a, list);
  va_end(list);
}

void xmp_gather(xmp_desc_t x, xmp_desc_t a, ...) {
  va_list list;
  va_start(list, a);
  nagaya::xmp::gather(Call("xmp_gather"), x, a, list);
  va_end(list);
}

void xmp_pack(xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask) {
  nagaya::xmp::pack(Call("xmp_pack"), v, a, mask);
}

void xmp_unpack(xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask) {
  nagaya::xmp::unpack(Call("xmp_unpack"), a, v, mask);
}

void xmp_transpose(xmp_desc_t x, xmp_desc_t a, int) {
  nagaya::xmp::transpose(Call("xmp_transpose"), x, a);
}

void xmp_matmul(xmp_desc_t x, xmp_desc_t a, xmp_desc_t b) {
  nagaya::xmp::matmul(Call("xmp_matmul"), x, a, b);
}

void xmp_sort_up(xmp_desc_t v1, xmp_desc_t v2) {
  nagaya::xmp::sort(Call("xmp_sort_up"), v1, v2, false);
}

void xmp_sort_down(xmp_desc_t v1, xmp_desc_t v2) {
  nagaya::xmp::sort(Call("xmp_sort_down"), v1, v2, true);
}
