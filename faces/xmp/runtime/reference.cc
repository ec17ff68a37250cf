// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/reference.h"

#include <algorithm>
#include <climits>
#include <numeric>
#include <string>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/nodes.h"
#include "faces/xmp/runtime/templates.h"

namespace nagaya::xmp {
namespace {

using Choice = nagaya_xmp_nodes::Choice;

Choice all_of(uint32_t extent) {
  Choice all(extent);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

[[noreturn]] void fail_range(const char* where, const nagaya_xmp_on& on,
                             const nagaya_xmp_subscript& range, const nagaya_interval& all) {
  if (range.step < 1)
    fail(where, text_of(on) + ": the step " + std::to_string(range.step) +
                    " of a subscript is not positive");
  const long shift = first_number_of(on);
  fail(where, text_of(on) + ": a subscript is " + std::to_string(range.low + shift) + ":" +
                  std::to_string(range.high + shift) + "; it must lie in " +
                  std::to_string(all.low + shift) + ":" + std::to_string(all.high + shift));
}

// Returns the subscript's range with both ends filled in; the program fails if it leaves the
// dimension's bounds.
nagaya_xmp_subscript checked_range(const char* where, const nagaya_xmp_on& on, size_t d) {
  const nagaya_interval all = indexes_of(on, d);
  const nagaya_xmp_subscript range = with_default_ends(on.subscript[d], all.low, all.high);
  if (range.step < 1 || range.low > range.high || range.low < all.low || range.high > all.high)
    fail_range(where, on, range, all);
  return range;
}

// Returns the coordinates of nodes, along the dimension of these that the subscript concerns, that
// a range of node numbers or of the template's indexes means.
Choice coordinates_in(const nagaya_xmp_on& on, size_t d, const nagaya_xmp_subscript& range) {
  Choice choice;
  if (on.nodes != nullptr) {
    for (long n = range.low; n <= range.high; n += range.step)
      choice.push_back(static_cast<uint32_t>(n));
    return choice;
  }
  const nagaya_distribution distribution = on.of_template->distribution(d);
  for (uint32_t c = 0; c < distribution.coordinates; ++c)
    if (nagaya_distribution_has(&distribution, c, range.low, range.high, range.step) != 0)
      choice.push_back(c);
  return choice;
}

// Returns the chosen coordinates for each dimension of the nodes: all of them if no subscript
// concerns that dimension; none for `*` if the caller is no member.
std::vector<Choice> chosen_coordinates(const char* where, const nagaya_xmp_on& on) {
  const nagaya_xmp_nodes& nodes = nodes_of(where, on);
  std::vector<Choice> choices;
  for (const uint32_t extent : nodes.extent) choices.push_back(all_of(extent));
  for (size_t d = 0; d < static_cast<size_t>(on.dimensions); ++d) {
    const nagaya_xmp_subscript_kind kind = on.subscript[d].kind;
    if (kind == NAGAYA_XMP_ALL) continue;
    const int axis = on.nodes != nullptr ? static_cast<int>(d) : on.of_template->axis(d);
    const auto n = static_cast<size_t>(axis);
    if (kind == NAGAYA_XMP_RANGE) {
      const nagaya_xmp_subscript range = checked_range(where, on, d);
      if (axis >= 0) choices[n] = coordinates_in(on, d, range);
    } else if (axis >= 0) {
      choices[n] = nodes.set.has_caller() ? Choice{nodes.own_coordinate(n)} : Choice{};
    }
  }
  return choices;
}

// Whether the caller has an index of the range in dimension d. It must be one of the nodes.
bool has_caller_index_in(const char* where, const nagaya_xmp_on& on, size_t d) {
  const nagaya_xmp_subscript range = checked_range(where, on, d);
  if (on.of_template != nullptr)
    return on.of_template->has_own_index(d, range.low, range.high, range.step);
  int64_t first = range.low, end = range.high + 1;
  nagaya_interval_clip_loop(own_indexes_of(on, d), range.step, &first, &end);
  return first != end;
}

void check_dimensions(const char* where, const nagaya_xmp_on& on, size_t wants) {
  if (on.dimensions != 0 && static_cast<size_t>(on.dimensions) != wants)
    fail(where, text_of(on) + " has " + std::to_string(wants) + " dimensions; the reference has " +
                    std::to_string(on.dimensions));
}

}  // namespace

const nagaya_xmp_nodes& nodes_of(const char* where, const nagaya_xmp_on& on) {
  if (on.nodes != nullptr) {
    check_dimensions(where, on, on.nodes->dimensions());
    return *on.nodes;
  }
  on.of_template->check_usable(where);
  check_dimensions(where, on, on.of_template->dimensions());
  return *on.of_template->onto;
}

std::string text_of(const nagaya_xmp_on& on) {
  return on.nodes != nullptr ? "nodes " + on.nodes->name : "template " + on.of_template->name;
}

nagaya_interval indexes_of(const nagaya_xmp_on& on, size_t d) {
  return on.nodes != nullptr ? nagaya_interval{0, int64_t{on.nodes->extent[d]} - 1}
                             : on.of_template->bounds[d];
}

nagaya_interval own_indexes_of(const nagaya_xmp_on& on, size_t d) {
  const nagaya_xmp_nodes& nodes = on.nodes != nullptr ? *on.nodes : *on.of_template->onto;
  if (!nodes.set.has_caller()) return {0, -1};
  if (on.of_template != nullptr) return on.of_template->own_part(d);
  return {nodes.own_coordinate(d), nodes.own_coordinate(d)};
}

long first_number_of(const nagaya_xmp_on& on) {
  return on.nodes != nullptr && !on.nodes->brackets ? 1 : 0;
}

nagaya_xmp_subscript with_default_ends(nagaya_xmp_subscript range, long low, long high) {
  if (range.low == LONG_MIN) range.low = low;
  if (range.high == LONG_MAX) range.high = high;
  return range;
}

ProcessSet* set_of(const char* where, const nagaya_xmp_on& on) {
  const nagaya_xmp_nodes& nodes = nodes_of(where, on);
  if (on.dimensions == 0) return &nodes.set;
  KnownSets& known = on.nodes != nullptr ? on.nodes->known_sets : on.of_template->known_sets;
  const KnownSets::Subscripts subscripts{on.subscript, static_cast<size_t>(on.dimensions)};
  if (const std::optional<ProcessSet*> set = known.find(subscripts)) return *set;
  const std::vector<Choice> choices = chosen_coordinates(where, on);
  ProcessSet* const set =
      std::ranges::any_of(choices, &Choice::empty) ? nullptr : &nodes.section(choices);
  known.add(subscripts, set);
  return set;
}

ProcessSet& own_or_first_set_of(const char* where, const nagaya_xmp_on& on) {
  std::vector<Choice> choices = chosen_coordinates(where, on);
  for (Choice& choice : choices)
    if (choice.empty()) choice = {0};
  return nodes_of(where, on).section(choices);
}

ProcessSet* set_of(const char* where, const nagaya_xmp_on* on) {
  return on == nullptr ? &Executing::now() : set_of(where, *on);
}

bool has_caller(const char* where, const nagaya_xmp_on* on) {
  const ProcessSet* const set = set_of(where, on);
  return set != nullptr && set->has_caller();
}

bool has_caller_in_other_dimensions(const char* where, const nagaya_xmp_on& on, int dimension) {
  if (!nodes_of(where, on).set.has_caller()) return false;
  for (int d = 0; d < on.dimensions; ++d)
    if (d != dimension && on.subscript[d].kind == NAGAYA_XMP_RANGE &&
        !has_caller_index_in(where, on, static_cast<size_t>(d)))
      return false;
  return true;
}

}  // namespace nagaya::xmp
