// SPDX-License-Identifier: BSD-3-Clause
// reflect.cc - the directive reflect.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/asynchronous.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {
namespace {

void check(const char* where, const nagaya_xmp_array_state& array, int error) {
  if (error != 0) fail(where, "the reflect of " + array.name + " has failed: " + reason_of(error));
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

Widths widths_of(const char* where, const nagaya_xmp_array_state& array,
                 const nagaya_xmp_width* width) {
  Widths widths{};
  for (size_t d = 0; d < array.dimensions(); ++d) {
    const nagaya_xmp_alignment& has = array.alignments[d];
    const nagaya_xmp_width wants =
        width != nullptr ? width[d] : nagaya_xmp_width{has.shadow_low, has.shadow_high, 0};
    if (wants.low < 0 || wants.high < 0 || wants.low > has.shadow_low ||
        wants.high > has.shadow_high)
      fail(where, "reflect of " + array.name + ": the width " + std::to_string(wants.low) + ":" +
                      std::to_string(wants.high) + " of dimension " + std::to_string(d + 1) +
                      " is more than its shadow " + std::to_string(has.shadow_low) + ":" +
                      std::to_string(has.shadow_high));
    widths[d] = {wants.low, wants.high, wants.periodic};
  }
  return widths;
}

}  // namespace
}  // namespace nagaya::xmp

void nagaya_xmp_reflect(const char* where, const nagaya_xmp_array* array,
                        const nagaya_xmp_width* width, int orthogonal, const long* async) {
  using namespace nagaya::xmp;
  nagaya_xmp_array_state& state = state_of(where, *array);
  const Widths widths = widths_of(where, state, width);
  const ProcessSet& nodes = state.with->onto->set;
  if (!Executing::now().contains(nodes))
    fail(where, "reflect of " + state.name + ": not all of nodes " + state.with->onto->name +
                    ", on which it lies, execute this: write it outside of the task");
  if (!nodes.has_caller()) return;
  if (has_reflect_of(state))
    fail(where, "a reflect of " + state.name +
                    " is under way: its wait_async must come before the next one");
  if (async == nullptr)
    return check(where, state, nagaya_array_reflect(state.blocks, widths.data(), orthogonal));
  check(where, state, nagaya_array_start_reflect(state.blocks, widths.data(), orthogonal));
  add_operation(*async, std::make_unique<Reflect>(state));
}
