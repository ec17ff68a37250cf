// SPDX-License-Identifier: BSD-3-Clause
// reflect.cc - the directives reflect and reduce_shadow.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/asynchronous.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/reductions.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {
namespace {

void check(const char* where, const nagaya_xmp_array_state& array, int error) {
  if (error != 0)
    fail(where, "an exchange of the shadow of " + array.name + " has failed: " + reason_of(error));
}

class Reflect : public Asynchronous {
 public:
  explicit Reflect(nagaya_xmp_array_state& array) : array_(array) {}

  bool is_complete() override {
    const int is_complete = nagaya_array_test_reflect(array_.blocks);
    check("", array_, std::min(is_complete, 0));
    return is_complete == 1;
  }
  void wait(const char* where) override {
    check(where, array_, nagaya_array_wait_reflect(array_.blocks));
  }
  bool is_reflect_of(const nagaya_xmp_array_state& array) const override {
    return &array == &array_;
  }

 private:
  nagaya_xmp_array_state& array_;
};

using Widths = std::array<nagaya_array_width, NAGAYA_ARRAY_DIMENSIONS>;

// One directive. `name` is its own.
struct Exchange {
  const char* where;
  const char* name;
  nagaya_xmp_array_state& array;
};

Widths widths_of(const Exchange& exchange, const nagaya_xmp_width* width) {
  const nagaya_xmp_array_state& array = exchange.array;
  Widths widths{};
  for (size_t d = 0; d < array.dimensions(); ++d) {
    const auto [low, high] = array.shadow_widths(d);
    const nagaya_xmp_width wants = width != nullptr ? width[d] : nagaya_xmp_width{low, high, 0};
    if (wants.low < 0 || wants.high < 0 || wants.low > low || wants.high > high)
      fail(exchange.where,
           exchange.name + (" of " + array.name) + ": the width " + std::to_string(wants.low) +
               ":" + std::to_string(wants.high) + " of dimension " + std::to_string(d + 1) +
               " is more than its shadow " + std::to_string(low) + ":" + std::to_string(high));
    widths[d] = {wants.low, wants.high, wants.periodic};
  }
  return widths;
}

// Whether the caller has a part in the exchange. The program fails unless all nodes of the array
// execute it and no earlier one is pending.
bool takes_part(const Exchange& exchange) {
  const auto& [where, name, array] = exchange;
  const ProcessSet& nodes = array.with->onto->set;
  if (!Executing::now().contains(nodes))
    fail(where, name + (" of " + array.name) + ": not all of nodes " + array.with->onto->name +
                    ", on which it lies, execute this: write it outside of the task");
  if (!nodes.has_caller()) return false;
  if (has_reflect_of(array))
    fail(where, "a reflect or reduce_shadow of " + array.name +
                    " is under way: its wait_async must come before the next one");
  return true;
}

// Fills the full shadows of cyclic dimensions that have a width, and sets these widths to 0: the
// array is assigned to itself, as one that is not distributed along them.
void fill_cyclic_shadows(const Exchange& exchange, Widths& widths) {
  const nagaya_xmp_array_state& array = exchange.array;
  std::vector<nagaya_array_dimension> from = dimensions_of(exchange.where, array), to = from;
  std::vector<nagaya_array_triplet> section;
  bool has_any = false;
  for (size_t d = 0; d < array.dimensions(); ++d) {
    section.push_back({0, array.extents[d], array.extents[d] == 1 ? 0 : 1});
    if (!array.is_cyclic(d) || (widths[d].low == 0 && widths[d].high == 0)) continue;
    to[d] = {};
    to[d].extent = from[d].extent;
    to[d].grid_dimension = -1;
    widths[d] = {};
    has_any = true;
  }
  if (!has_any) return;
  const nagaya_xmp_nodes& nodes = *array.with->onto;
  const nagaya_array_grid grid = {nodes.set.members(), static_cast<uint32_t>(nodes.extent.size()),
                                  nodes.extent.data()};
  const auto shape_of = [&](const std::vector<nagaya_array_dimension>& dimensions) {
    return nagaya_array_shape{array.element_bytes, static_cast<uint32_t>(dimensions.size()),
                              dimensions.data()};
  };
  const nagaya_array_shape to_shape = shape_of(to), from_shape = shape_of(from);
  void* const base = array.array->base;
  const nagaya_array_side target = {&to_shape, &grid, base, section.data()};
  const nagaya_array_side source = {&from_shape, &grid, base, section.data()};
  check(exchange.where, array,
        nagaya_array_transfer(&nodes.set.transfers(exchange.where), &target, &source));
}

// Starts an exchange of the shadow under the number *async or, without one, executes it.
void start_or_run(const Exchange& exchange, const long* async, auto start, auto run) {
  if (async == nullptr) return check(exchange.where, exchange.array, run(exchange.array.blocks));
  check(exchange.where, exchange.array, start(exchange.array.blocks));
  add_operation(*async, std::make_unique<Reflect>(exchange.array));
}

}  // namespace
}  // namespace nagaya::xmp

void nagaya_xmp_reflect(const char* where, const nagaya_xmp_array* array,
                        const nagaya_xmp_width* width, int orthogonal, const long* async) {
  using namespace nagaya::xmp;
  const Exchange exchange{where, "reflect", state_of(where, *array)};
  Widths widths = widths_of(exchange, width);
  if (!takes_part(exchange)) return;
  fill_cyclic_shadows(exchange, widths);
  const auto with = [&](auto function) {
    return [=, &widths](nagaya_array* of) { return function(of, widths.data(), orthogonal); };
  };
  start_or_run(exchange, async, with(nagaya_array_start_reflect), with(nagaya_array_reflect));
}

void nagaya_xmp_reduce_shadow(const char* where, const nagaya_xmp_array* array,
                              nagaya_xmp_type type, const nagaya_xmp_width* width, int orthogonal,
                              const long* async) {
  using namespace nagaya::xmp;
  const Exchange exchange{where, "reduce_shadow", state_of(where, *array)};
  const Widths widths = widths_of(exchange, width);
  if (!takes_part(exchange)) return;
  for (size_t d = 0; d < exchange.array.dimensions(); ++d)
    if (exchange.array.is_cyclic(d) && exchange.array.has_full_shadow(d))
      fail(where, "reduce_shadow of " + exchange.array.name + ": dimension " +
                      std::to_string(d + 1) +
                      " is cyclic: sums of its full shadow are not supported yet");
  Reduce* const add = reduction_of(NAGAYA_XMP_SUM, type);
  const auto with = [&](auto function) {
    return [=, &widths](nagaya_array* of) { return function(of, widths.data(), orthogonal, add); };
  };
  start_or_run(exchange, async, with(nagaya_array_start_reduction),
               with(nagaya_array_reduce_shadow));
}
