// SPDX-License-Identifier: BSD-3-Clause
// checked_access.cc - accesses of programs that were compiled with xmpcc --check.
#include <string>

#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/job.h"

namespace {

std::string text_of(const nagaya_interval& of) {
  return std::to_string(of.low) + ":" + std::to_string(of.high);
}

// Returns the caller's indexes of dimension d, for messages: "0:3, with its shadow -1:4".
std::string own_indexes_text(const nagaya_xmp_array_state& state, size_t d) {
  const nagaya_interval own = state.blocks != nullptr ? state.own_part(d) : nagaya_interval{0, -1};
  if (own.low > own.high) return "no part of the array";
  if (state.is_cyclic(d) && state.has_full_shadow(d)) return text_of(state.own_room(d));
  if (state.is_cyclic(d)) {
    constexpr long kNamed = 3;
    std::string text;
    long named = 0;
    for (long i = 0; i < state.extents[d] && named <= kNamed; ++i) {
      if (!state.has_own_index(d, i)) continue;
      text += (named == 0 ? "" : ", ") + (named == kNamed ? "..." : std::to_string(i));
      ++named;
    }
    return text;
  }
  const nagaya_interval room = state.own_room(d);
  return text_of(own) +
         (room.low == own.low && room.high == own.high ? "" : ", with its shadow " + text_of(room));
}

}  // namespace

long nagaya_xmp_checked(const char* where, const volatile void* base, int behind, long index) {
  const nagaya_xmp_array* const array = nagaya::xmp::array_before(const_cast<const void*>(base));
  if (array == nullptr)
    nagaya::xmp::fail(
        where, "the array has no elements before the template_fix of its template, or xmp_malloc");
  const nagaya_xmp_array_state& state = *array->state;
  const size_t d = state.dimensions() - 1 - static_cast<size_t>(behind);
  if (state.blocks != nullptr && state.has_own_index(d, index)) return index;
  nagaya::xmp::fail(where, "index " + std::to_string(index) + " in dimension " +
                               std::to_string(d + 1) + " of array " + state.name + " on node " +
                               std::to_string(nagaya::xmp::Job::own().rank() + 1) + ", which has " +
                               own_indexes_text(state, d));
}
