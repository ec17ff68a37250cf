// SPDX-License-Identifier: BSD-3-Clause
// formal.cc - arguments that are distributed arrays, or rows of them.
#include <string>
#include <utility>

#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/failure.h"

namespace nagaya::xmp {
namespace {

// The row of an array that begins at `base`: its last dimensions from number `lead` on.
struct Row {
  Row(const nagaya_xmp_array& of, size_t lead, char* base)
      : state(of.state->name, of.state->element_bytes,
              static_cast<int>(of.state->dimensions() - lead), &of.state->extents[lead],
              of.state->with, &of.state->alignments[lead]),
        array{base, {}, {}, {}, &state} {
    for (size_t d = 0; d < state.dimensions(); ++d) {
      array.first[d] = of.first[lead + d];
      array.count[d] = of.count[lead + d];
      array.cycle[d] = of.cycle[lead + d];
    }
    state.is_row = true;
    state.array = &array;
    state.blocks = of.state->blocks;
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  ~Row() { state.blocks = nullptr; }  // the array's

  nagaya_xmp_array_state state;
  nagaya_xmp_array array;
};

// Returns the row of so many dimensions that begins at `base`; nullptr: there is none, or it lies
// in a dimension that is aligned.
const nagaya_xmp_array* row_at(const void* base, size_t dimensions) {
  const nagaya_xmp_array* const array = array_before(base);
  if (array == nullptr) return nullptr;
  nagaya_xmp_array_state& state = *array->state;
  if (state.blocks == nullptr || dimensions >= state.dimensions()) return nullptr;
  const size_t lead = state.dimensions() - dimensions;
  size_t rows = 1, bytes = state.element_bytes;
  for (size_t d = 0; d < state.dimensions(); ++d) {
    if (d < lead && state.alignments[d].dimension >= 0) return nullptr;
    (d < lead ? rows : bytes) *= static_cast<size_t>(array->count[d]);
  }
  const auto distance = static_cast<size_t>(static_cast<const char*>(base) - array->base);
  if (distance % bytes != 0 || distance / bytes >= rows) return nullptr;
  std::shared_ptr<const nagaya_xmp_array>& found = state.rows[{base, dimensions}];
  if (found == nullptr) {
    const auto row = std::make_shared<Row>(*array, lead, array->base + distance);
    found = {row, &row->array};
  }
  return found.get();
}

}  // namespace
}  // namespace nagaya::xmp

const nagaya_xmp_array* nagaya_xmp_formal(const char* where, const void* argument, const char* name,
                                          unsigned long element_bytes, int dimensions,
                                          const long* extent, const nagaya_xmp_template* with,
                                          const nagaya_xmp_alignment* alignment) {
  using namespace nagaya::xmp;
  const nagaya_xmp_array* array = array_of_block(argument);
  const auto rank = static_cast<size_t>(dimensions);
  if (array == nullptr || array->state->dimensions() > rank)
    if (const nagaya_xmp_array* const row = row_at(argument, rank)) array = row;
  const std::string argument_text = std::string("argument ") + name;
  if (array == nullptr)
    fail(where, argument_text + " is no distributed array: align what the caller gives");
  with->check_usable(where);
  const nagaya_xmp_array_state formal(name, element_bytes, dimensions, extent, with, alignment);
  const nagaya_xmp_array_state& actual = *array->state;
  if (!formal.has_same_layout(actual))
    fail(where, argument_text + " is array " + actual.name +
                    ", which has another element, extent, alignment or shadow");
  return array;
}
