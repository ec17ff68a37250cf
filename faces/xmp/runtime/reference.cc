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

bool is_in(const nagaya_xmp_subscript& subscript, long low, long high) {
  return subscript.step >= 1 && subscript.low <= subscript.high && subscript.low >= low &&
         subscript.high <= high;
}

[[noreturn]] void fail_range(const char* where, const std::string& of,
                             const nagaya_xmp_subscript& subscript, long low, long high,
                             long shift) {
  if (subscript.step < 1)
    fail(where,
         of + ": the step " + std::to_string(subscript.step) + " of a subscript is not positive");
  fail(where, of + ": a subscript is " + std::to_string(subscript.low + shift) + ":" +
                  std::to_string(subscript.high + shift) + "; it must lie in " +
                  std::to_string(low + shift) + ":" + std::to_string(high + shift));
}

// Return the range with both ends filled in; the program fails if it leaves the dimension's bounds.
nagaya_xmp_subscript checked_range(const char* where, const nagaya_xmp_nodes& nodes, size_t d,
                                   const nagaya_xmp_subscript& subscript) {
  const long high = long{nodes.extent[d]} - 1;
  const nagaya_xmp_subscript range = with_default_ends(subscript, 0, high);
  if (!is_in(range, 0, high))
    fail_range(where, "nodes " + nodes.name, range, 0, high, nodes.brackets ? 0 : 1);
  return range;
}

nagaya_xmp_subscript checked_range(const char* where, const nagaya_xmp_template& of, size_t d,
                                   const nagaya_xmp_subscript& subscript) {
  const nagaya_xmp_subscript range = with_default_ends(subscript, of.low(d), of.high(d));
  if (!is_in(range, of.low(d), of.high(d)))
    fail_range(where, "template " + of.name, range, of.low(d), of.high(d), 0);
  return range;
}

// Returns the coordinates that a subscript of nodes chooses; none for `*` if the caller is no
// member.
Choice coordinates_of(const char* where, const nagaya_xmp_nodes& nodes, size_t d,
                      const nagaya_xmp_subscript& subscript) {
  if (subscript.kind == NAGAYA_XMP_ALL) return all_of(nodes.extent[d]);
  if (subscript.kind == NAGAYA_XMP_STAR)
    return nodes.set.has_caller() ? Choice{nodes.own_coordinate(d)} : Choice{};
  const nagaya_xmp_subscript range = checked_range(where, nodes, d, subscript);
  Choice choice;
  for (long n = range.low; n <= range.high; n += range.step)
    choice.push_back(static_cast<uint32_t>(n));
  return choice;
}

// Returns the coordinates of nodes that have at least one of the template's indexes that the
// subscript means; none for `*` if the caller is no member.
Choice coordinates_of(const char* where, const nagaya_xmp_template& of, size_t d,
                      const nagaya_xmp_subscript& subscript) {
  const nagaya_xmp_nodes& nodes = *of.onto;
  const auto axis = static_cast<size_t>(of.axis(d));
  if (subscript.kind == NAGAYA_XMP_ALL) return all_of(nodes.extent[axis]);
  if (subscript.kind == NAGAYA_XMP_STAR)
    return nodes.set.has_caller() ? Choice{nodes.own_coordinate(axis)} : Choice{};
  const nagaya_xmp_subscript range = checked_range(where, of, d, subscript);
  Choice choice;
  const nagaya_distribution distribution = of.distribution(d);
  for (long i = range.low; i <= range.high;) {
    const uint32_t coordinate = nagaya_distribution_coordinate(&distribution, i);
    choice.push_back(coordinate);
    const long next = nagaya_distribution_part(&distribution, coordinate).high + 1;
    i += std::max(1l, (next - i + range.step - 1) / range.step) * range.step;
  }
  return choice;
}

// Returns the chosen coordinates for each dimension of the nodes: all of them if no subscript
// concerns that dimension.
std::vector<Choice> chosen_coordinates(const char* where, const nagaya_xmp_on& on) {
  const nagaya_xmp_nodes& nodes = nodes_of(where, on);
  std::vector<Choice> choices;
  for (const uint32_t extent : nodes.extent) choices.push_back(all_of(extent));
  for (int d = 0; d < on.dimensions; ++d) {
    const auto n = static_cast<size_t>(d);
    if (on.nodes != nullptr) {
      choices[n] = coordinates_of(where, nodes, n, on.subscript[d]);
    } else if (on.of_template->axis(n) >= 0) {
      choices[static_cast<size_t>(on.of_template->axis(n))] =
          coordinates_of(where, *on.of_template, n, on.subscript[d]);
    } else if (on.subscript[d].kind == NAGAYA_XMP_RANGE) {
      checked_range(where, *on.of_template, n, on.subscript[d]);
    }
  }
  return choices;
}

// Whether the caller has an index of the range in dimension d. It must be one of the nodes.
bool has_caller_index_in(const char* where, const nagaya_xmp_on& on, size_t d) {
  const bool is_of_nodes = on.nodes != nullptr;
  const nagaya_xmp_subscript range =
      is_of_nodes ? checked_range(where, *on.nodes, d, on.subscript[d])
                  : checked_range(where, *on.of_template, d, on.subscript[d]);
  const nagaya_interval own =
      is_of_nodes ? nagaya_interval{on.nodes->own_coordinate(d), on.nodes->own_coordinate(d)}
                  : on.of_template->own_part(d);
  int64_t first = range.low, end = range.high + 1;
  nagaya_interval_clip_loop(own, range.step, &first, &end);
  return first != end;
}

void check_dimensions(const char* where, const std::string& of, int has, size_t wants) {
  if (has != 0 && static_cast<size_t>(has) != wants)
    fail(where, of + " has " + std::to_string(wants) + " dimensions; the reference has " +
                    std::to_string(has));
}

}  // namespace

const nagaya_xmp_nodes& nodes_of(const char* where, const nagaya_xmp_on& on) {
  if (on.nodes != nullptr) {
    check_dimensions(where, "nodes " + on.nodes->name, on.dimensions, on.nodes->dimensions());
    return *on.nodes;
  }
  on.of_template->check_usable(where);
  check_dimensions(where, "template " + on.of_template->name, on.dimensions,
                   on.of_template->dimensions());
  return *on.of_template->onto;
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

bool has_caller_in_other_dimensions(const char* where, const nagaya_xmp_on& on, int dimension) {
  if (!nodes_of(where, on).set.has_caller()) return false;
  for (int d = 0; d < on.dimensions; ++d)
    if (d != dimension && on.subscript[d].kind == NAGAYA_XMP_RANGE &&
        !has_caller_index_in(where, on, static_cast<size_t>(d)))
      return false;
  return true;
}

}  // namespace nagaya::xmp
