// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/templates.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/reference.h"
#include "xmp/xmp.h"

using nagaya::xmp::fail;

nagaya_xmp_template::nagaya_xmp_template(std::string of_name, size_t dimensions)
    : Descriptor{XMP_DESC_TEMPLATE},
      name(std::move(of_name)),
      bounds(dimensions, nagaya_interval{0, -1}) {}

void nagaya_xmp_template::check_usable(const char* where) const {
  if (!is_fixed)
    fail(where, "template " + name + " is not fixed: its template_fix must come before");
  if (onto == nullptr)
    fail(where, "template " + name + " is not distributed: its distribute must come before");
}

long nagaya_xmp_template::width(size_t d) const {
  if (kinds[d].width != 0) return kinds[d].width;
  return nagaya_distribution_width(low(d), high(d), onto->extent[static_cast<size_t>(axes[d])]);
}

// The width is at most the template's extent: the end of a wider block might overflow.
nagaya_distribution nagaya_xmp_template::distribution(size_t d) const {
  return {low(d),
          high(d),
          std::min(width(d), high(d) - low(d) + 1),
          onto->extent[static_cast<size_t>(axes[d])],
          NAGAYA_DISTRIBUTION_BLOCK,
          nullptr};
}

nagaya_interval nagaya_xmp_template::own_part(size_t d) const {
  if (axes[d] < 0) return bounds[d];
  const nagaya_distribution of = distribution(d);
  return nagaya_distribution_run(&of, onto->own_coordinate(static_cast<size_t>(axes[d])), 0);
}

bool nagaya_xmp_template::has_same_layout(const nagaya_xmp_template& other) const {
  if (this == &other) return true;
  if (!is_usable() || !other.is_usable() || dimensions() != other.dimensions() ||
      axes != other.axes || &onto->set != &other.onto->set || onto->extent != other.onto->extent)
    return false;
  for (size_t d = 0; d < dimensions(); ++d)
    if (low(d) != other.low(d) || high(d) != other.high(d) ||
        (axes[d] >= 0 && distribution(d).width != other.distribution(d).width))
      return false;
  return true;
}

namespace {

void set_bounds(const char* where, nagaya_xmp_template& of, const long* low, const long* high) {
  for (size_t d = 0; d < of.dimensions(); ++d) {
    if (low[d] > high[d])
      fail(where, "template " + of.name + ": " + std::to_string(low[d]) + ":" +
                      std::to_string(high[d]) + " has no index");
    of.bounds[d] = {low[d], high[d]};
  }
  of.is_fixed = true;
}

// When the template is fixed and distributed: checks its widths and makes the arrays that wait for
// it. Before that it does nothing.
void make_waiting_arrays(const char* where, nagaya_xmp_template& of) {
  if (!of.is_usable()) return;
  for (size_t d = 0; d < of.dimensions(); ++d) {
    if (of.axes[d] < 0) continue;
    const nagaya_distribution distribution = of.distribution(d);
    const long indexes = of.high(d) - of.low(d) + 1;
    if (distribution.width < (indexes + distribution.coordinates - 1) / distribution.coordinates)
      fail(where, "template " + of.name + ": block(" + std::to_string(distribution.width) +
                      ") on " + std::to_string(distribution.coordinates) + " nodes has room for " +
                      std::to_string(distribution.width * distribution.coordinates) + " of " +
                      std::to_string(indexes) + " indexes: make the width larger");
  }
  for (nagaya_xmp_array* const array : std::exchange(of.waiting_arrays, {}))
    nagaya::xmp::make_blocks(where, *array);
}

}  // namespace

nagaya_xmp_template* nagaya_xmp_declare_template(const char* where, const char* name,
                                                 int dimensions, const long* low,
                                                 const long* high) {
  auto* const made = new nagaya_xmp_template(name, static_cast<size_t>(dimensions));
  if (low != nullptr) set_bounds(where, *made, low, high);
  return made;
}

void nagaya_xmp_fix_template(const char* where, nagaya_xmp_template* fixed, const long* low,
                             const long* high) {
  if (fixed->is_fixed) fail(where, "template " + fixed->name + " is fixed already");
  set_bounds(where, *fixed, low, high);
  make_waiting_arrays(where, *fixed);
}

void nagaya_xmp_free_template(nagaya_xmp_template** freed) {
  delete *freed;
  *freed = nullptr;
}

void nagaya_xmp_distribute(const char* where, nagaya_xmp_template* distributed,
                           const nagaya_xmp_nodes* onto,
                           const nagaya_xmp_distribution* distribution) {
  if (distributed->is_usable())
    fail(where, "template " + distributed->name + " is distributed already");
  int axes = 0;
  distributed->kinds.assign(distribution, distribution + distributed->dimensions());
  distributed->axes.clear();
  for (const nagaya_xmp_distribution& one : distributed->kinds)
    distributed->axes.push_back(one.kind == NAGAYA_XMP_NOT_DISTRIBUTED ? -1 : axes++);
  if (static_cast<size_t>(axes) != onto->dimensions())
    fail(where, "template " + distributed->name + ": " + std::to_string(axes) +
                    " dimensions are distributed, but nodes " + onto->name + " has " +
                    std::to_string(onto->dimensions()));
  distributed->onto = onto;
  make_waiting_arrays(where, *distributed);
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

void check_loop(const char* where, const nagaya_xmp_on& on, nagaya_interval all, long first,
                long last) {
  const long low = std::min(first, last), high = std::max(first, last);
  if (low >= all.low && high <= all.high) return;
  const long shift = nagaya::xmp::first_number_of(on);
  fail(where, "the loop goes to index " + std::to_string((low < all.low ? low : high) + shift) +
                  " of " + nagaya::xmp::text_of(on) + ", which has " +
                  std::to_string(all.low + shift) + ":" + std::to_string(all.high + shift));
}

}  // namespace

nagaya_xmp_range nagaya_xmp_loop(const char* where, const nagaya_xmp_on* on, int dimension,
                                 long offset, long first, long end, long step) {
  nagaya::xmp::nodes_of(where, *on);  // checks the reference
  if (step == 0) fail(where, "the loop's step is 0");
  if (step > 0 ? first >= end : first <= end) return {first, first};
  const auto d = static_cast<size_t>(dimension);
  const long steps = (end - first + (step > 0 ? step - 1 : step + 1)) / step;
  check_loop(where, *on, nagaya::xmp::indexes_of(*on, d), first + offset,
             first + (steps - 1) * step + offset);
  if (nagaya::xmp::Executing::is_in_task()) {
    static std::mutex sets;  // guards the cached sets: several threads may call
    const std::lock_guard lock(sets);
    if (const auto* const set = nagaya::xmp::set_of(where, *on); set != nullptr)
      nagaya::xmp::check_executing(where, "the loop", *set);
  }
  if (!nagaya::xmp::has_caller_in_other_dimensions(where, *on, dimension)) return {first, first};
  const nagaya_interval own = nagaya::xmp::own_indexes_of(*on, d);
  int64_t from = first, to = end;
  nagaya_interval_clip_loop({own.low - offset, own.high - offset}, step, &from, &to);
  return {from, to};
}
