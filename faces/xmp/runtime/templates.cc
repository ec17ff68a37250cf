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
  if (!has_sizes)
    fail(where,
         "template " + name + ": its gblock(*) has no sizes: its template_fix must come before");
}

long nagaya_xmp_template::width(size_t d) const {
  if (kinds[d].width != 0) return kinds[d].width;
  return nagaya_distribution_width(low(d), high(d), onto->extent[static_cast<size_t>(axes[d])]);
}

// The width is at most the template's extent: the end of a wider block might overflow.
nagaya_distribution nagaya_xmp_template::distribution(size_t d) const {
  const uint32_t coordinates = onto->extent[static_cast<size_t>(axes[d])];
  if (kinds[d].kind == NAGAYA_XMP_GBLOCK)
    return {low(d), high(d), 0, coordinates, NAGAYA_DISTRIBUTION_GENERAL, begins[d].data()};
  return {low(d),
          high(d),
          std::min(width(d), high(d) - low(d) + 1),
          coordinates,
          is_cyclic(d) ? NAGAYA_DISTRIBUTION_CYCLIC : NAGAYA_DISTRIBUTION_BLOCK,
          nullptr};
}

bool nagaya_xmp_template::has_own_index(size_t d, long from, long to, long step) const {
  if (axes[d] < 0) return true;
  const nagaya_distribution of = distribution(d);
  return nagaya_distribution_has(&of, onto->own_coordinate(static_cast<size_t>(axes[d])), from, to,
                                 step) != 0;
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
  if (begins != other.begins) return false;
  for (size_t d = 0; d < dimensions(); ++d)
    if (low(d) != other.low(d) || high(d) != other.high(d) ||
        (axes[d] >= 0 && (distribution(d).kind != other.distribution(d).kind ||
                          distribution(d).width != other.distribution(d).width)))
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

// Copies the program's sizes of dimension d, one for each coordinate.
void set_sizes(const char* where, nagaya_xmp_template& of, size_t d) {
  const nagaya_xmp_distribution& kind = of.kinds[d];
  const uint32_t coordinates = of.onto->extent[static_cast<size_t>(of.axes[d])];
  if (kind.count != 0 && kind.count < coordinates)
    fail(where, "template " + of.name + ": gblock has " + std::to_string(kind.count) +
                    " sizes for " + std::to_string(coordinates) + " nodes");
  of.sizes[d].clear();
  for (uint32_t c = 0; c < coordinates; ++c)
    of.sizes[d].push_back(kind.bytes == sizeof(int) ? static_cast<const int*>(kind.sizes)[c]
                                                    : static_cast<const long*>(kind.sizes)[c]);
}

void set_distribution(const char* where, nagaya_xmp_template& of,
                      const nagaya_xmp_distribution* distribution) {
  of.kinds.assign(distribution, distribution + of.dimensions());
  of.has_sizes = true;
  for (size_t d = 0; d < of.dimensions(); ++d) {
    if (of.kinds[d].kind != NAGAYA_XMP_GBLOCK) continue;
    if (of.kinds[d].sizes != nullptr)
      set_sizes(where, of, d);
    else
      of.has_sizes = false;
  }
}

// Computes the first index of each coordinate of a gblock dimension.
void set_begins(const char* where, nagaya_xmp_template& of, size_t d) {
  const auto fail_sizes = [&](const std::string& why) {
    fail(where, "template " + of.name + ": the sizes of gblock " + why);
  };
  const int64_t indexes = of.high(d) - of.low(d) + 1;
  int64_t sum = 0;
  of.begins[d] = {of.low(d)};
  for (const int64_t size : of.sizes[d]) {
    if (size < 0) fail_sizes("have a negative one, " + std::to_string(size));
    if (size > indexes - sum)
      fail_sizes("are more than its " + std::to_string(indexes) + " indexes");
    sum += size;
    of.begins[d].push_back(of.low(d) + sum);
  }
  if (sum != indexes)
    fail_sizes("are " + std::to_string(sum) + " together, but it has " + std::to_string(indexes) +
               " indexes");
}

// When the template is fixed and distributed: checks its widths and makes the arrays that wait for
// it. Before that it does nothing.
void make_waiting_arrays(const char* where, nagaya_xmp_template& of) {
  if (!of.is_usable()) return;
  for (size_t d = 0; d < of.dimensions(); ++d) {
    if (of.axes[d] < 0) continue;
    if (of.kinds[d].kind == NAGAYA_XMP_GBLOCK) set_begins(where, of, d);
    if (of.kinds[d].kind == NAGAYA_XMP_CYCLIC && of.kinds[d].width < 1)
      fail(where, "template " + of.name + ": the width of cyclic(" +
                      std::to_string(of.kinds[d].width) + ") is not positive");
    if (of.kinds[d].kind != NAGAYA_XMP_BLOCK) continue;
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
                             const long* high, const nagaya_xmp_distribution* distribution) {
  if (fixed->is_usable() || (fixed->is_fixed && low != nullptr))
    fail(where, "template " + fixed->name + " is fixed already");
  if (distribution != nullptr && fixed->onto == nullptr)
    fail(where, "template " + fixed->name + " is not distributed: its distribute must come before");
  if (low != nullptr) set_bounds(where, *fixed, low, high);
  if (distribution != nullptr) set_distribution(where, *fixed, distribution);
  if (fixed->onto != nullptr && !fixed->has_sizes)
    fail(where, "template " + fixed->name + ": its gblock(*) has no sizes: give them here");
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
  distributed->axes.clear();
  for (size_t d = 0; d < distributed->dimensions(); ++d)
    distributed->axes.push_back(distribution[d].kind == NAGAYA_XMP_NOT_DISTRIBUTED ? -1 : axes++);
  if (static_cast<size_t>(axes) != onto->dimensions())
    fail(where, "template " + distributed->name + ": " + std::to_string(axes) +
                    " dimensions are distributed, but nodes " + onto->name + " has " +
                    std::to_string(onto->dimensions()));
  distributed->onto = onto;
  distributed->sizes.resize(distributed->dimensions());
  distributed->begins.resize(distributed->dimensions());
  set_distribution(where, *distributed, distribution);
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

// Whether the caller may have iterations of a loop that is not empty; the program fails if the loop
// is wrong.
bool may_execute(const char* where, const nagaya_xmp_on& on, int dimension, long offset, long first,
                 long last) {
  check_loop(where, on, nagaya::xmp::indexes_of(on, static_cast<size_t>(dimension)), first + offset,
             last + offset);
  if (nagaya::xmp::Executing::is_in_task()) {
    static std::mutex sets;  // guards the cached sets: several threads may call
    const std::lock_guard lock(sets);
    // The nodes of the loop's indexes only: others need not execute it.
    nagaya_xmp_on indexed = on;
    indexed.subscript[dimension] = {NAGAYA_XMP_RANGE, std::min(first, last) + offset,
                                    std::max(first, last) + offset, 1};
    if (const auto* const set = nagaya::xmp::set_of(where, indexed); set != nullptr)
      nagaya::xmp::check_executing(where, "the loop", *set);
  }
  return nagaya::xmp::has_caller_in_other_dimensions(where, on, dimension);
}

bool is_empty_loop(const char* where, const nagaya_xmp_on& on, long first, long end, long step) {
  nagaya::xmp::nodes_of(where, on);  // checks the reference
  if (step == 0) fail(where, "the loop's step is 0");
  return step > 0 ? first >= end : first <= end;
}

long last_of_loop(long first, long end, long step) {
  const long steps = (end - first + (step > 0 ? step - 1 : step + 1)) / step;
  return first + (steps - 1) * step;
}

}  // namespace

nagaya_xmp_range nagaya_xmp_loop(const char* where, const nagaya_xmp_on* on, int dimension,
                                 long offset, long first, long end, long step) {
  if (is_empty_loop(where, *on, first, end, step) ||
      !may_execute(where, *on, dimension, offset, first, last_of_loop(first, end, step)))
    return {first, first};
  const nagaya_interval own = nagaya::xmp::own_indexes_of(*on, static_cast<size_t>(dimension));
  int64_t from = first, to = end;
  nagaya_interval_clip_loop({own.low - offset, own.high - offset}, step, &from, &to);
  return {from, to};
}

nagaya_xmp_rounds nagaya_xmp_cyclic_loop(const char* where, const nagaya_xmp_on* on, int dimension,
                                         long offset, long first, long end, long step) {
  if (is_empty_loop(where, *on, first, end, step)) return {};
  const long last = last_of_loop(first, end, step);
  if (!may_execute(where, *on, dimension, offset, first, last)) return {};
  const auto d = static_cast<size_t>(dimension);
  const nagaya_distribution of = on->of_template->distribution(d);
  const uint32_t coordinate =
      on->of_template->onto->own_coordinate(static_cast<size_t>(on->of_template->axis(d)));
  const nagaya_rounds rounds =
      nagaya_distribution_rounds(&of, coordinate, first + offset, last + offset, step);
  return {rounds.first,
          rounds.end,
          rounds.step,
          of.low + coordinate * of.width - offset,
          of.width * of.coordinates,
          of.width,
          {first, end}};
}
