// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/reference.h"

#include <algorithm>
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
  fail(where, of + ": a subscript is " + std::to_string(subscript.low + shift) + ":" +
                  std::to_string(subscript.high + shift) + "; it must lie in " +
                  std::to_string(low + shift) + ":" + std::to_string(high + shift));
}

void check_nodes_range(const char* where, const nagaya_xmp_nodes& nodes, size_t d,
                       const nagaya_xmp_subscript& subscript) {
  const long high = long{nodes.extent[d]} - 1;
  if (!is_in(subscript, 0, high))
    fail_range(where, "nodes " + nodes.name, subscript, 0, high, nodes.brackets ? 0 : 1);
}

void check_template_range(const char* where, const nagaya_xmp_template& of, size_t d,
                          const nagaya_xmp_subscript& subscript) {
  if (!is_in(subscript, of.low(d), of.high(d)))
    fail_range(where, "template " + of.name, subscript, of.low(d), of.high(d), 0);
}

// Of nodes. Nothing: `*`, and the caller is outside.
Choice choose(const char* where, const nagaya_xmp_nodes& nodes, size_t d,
              const nagaya_xmp_subscript& subscript) {
  if (subscript.kind == NAGAYA_XMP_ALL) return all_of(nodes.extent[d]);
  if (subscript.kind == NAGAYA_XMP_STAR)
    return nodes.set.has_caller() ? Choice{nodes.own(d)} : Choice{};
  check_nodes_range(where, nodes, d, subscript);
  Choice choice;
  for (long n = subscript.low; n <= subscript.high; n += subscript.step)
    choice.push_back(static_cast<uint32_t>(n));
  return choice;
}

// Of a template: the coordinates that have one of the indexes.
Choice choose(const char* where, const nagaya_xmp_template& of, size_t d,
              const nagaya_xmp_subscript& subscript) {
  const nagaya_xmp_nodes& nodes = *of.onto;
  const auto axis = static_cast<size_t>(of.axis(d));
  if (subscript.kind == NAGAYA_XMP_ALL) return all_of(nodes.extent[axis]);
  if (subscript.kind == NAGAYA_XMP_STAR)
    return nodes.set.has_caller() ? Choice{nodes.own(axis)} : Choice{};
  check_template_range(where, of, d, subscript);
  Choice choice;
  const nagaya_distribution distribution = of.distribution(d);
  for (long i = subscript.low; i <= subscript.high;) {
    const uint32_t coordinate = nagaya_distribution_coordinate(&distribution, i);
    choice.push_back(coordinate);
    const long next = nagaya_distribution_part(&distribution, coordinate).high + 1;
    i += std::max(1l, (next - i + subscript.step - 1) / subscript.step) * subscript.step;
  }
  return choice;
}

// Dimensions of the nodes that no subscript chooses from have all.
std::vector<Choice> choices_of(const char* where, const nagaya_xmp_on& on, int except) {
  const nagaya_xmp_nodes& nodes = nodes_of(where, on);
  std::vector<Choice> choices;
  for (const uint32_t extent : nodes.extent) choices.push_back(all_of(extent));
  for (int d = 0; d < on.dimensions; ++d) {
    if (d == except) continue;
    const auto n = static_cast<size_t>(d);
    if (on.nodes != nullptr) {
      choices[n] = choose(where, nodes, n, on.subscript[d]);
    } else if (on.of_template->axis(n) >= 0) {
      choices[static_cast<size_t>(on.of_template->axis(n))] =
          choose(where, *on.of_template, n, on.subscript[d]);
    } else if (on.subscript[d].kind == NAGAYA_XMP_RANGE) {
      check_template_range(where, *on.of_template, n, on.subscript[d]);
    }
  }
  return choices;
}

// Whether the caller, which is one of the nodes, has one of a range's indexes.
bool has_caller_one_of(const char* where, const nagaya_xmp_on& on, size_t d) {
  const nagaya_xmp_subscript& subscript = on.subscript[d];
  nagaya_interval own;
  if (on.nodes != nullptr) {
    check_nodes_range(where, *on.nodes, d, subscript);
    own = {on.nodes->own(d), on.nodes->own(d)};
  } else {
    check_template_range(where, *on.of_template, d, subscript);
    own = on.of_template->own_part(d);
  }
  int64_t first = subscript.low, end = subscript.high + 1;
  nagaya_interval_clip_loop(own, subscript.step, &first, &end);
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

ProcessSet* set_of(const char* where, const nagaya_xmp_on& on) {
  const nagaya_xmp_nodes& nodes = nodes_of(where, on);
  if (on.dimensions == 0) return &nodes.set;
  const std::vector<Choice> choices = choices_of(where, on, -1);
  if (std::ranges::any_of(choices, &Choice::empty)) return nullptr;
  return &nodes.section(choices);
}

ProcessSet* executing_set_of(const char* where, const nagaya_xmp_on* on) {
  ProcessSet& executing = Executing::now();
  if (on == nullptr) return &executing;
  ProcessSet* const set = set_of(where, *on);
  if (set != nullptr && !executing.contains(*set))
    fail(where,
         "the reference means nodes that do not execute this: write it outside of the task, "
         "or make the task larger");
  return set;
}

bool is_caller_beside(const char* where, const nagaya_xmp_on& on, int dimension) {
  if (!nodes_of(where, on).set.has_caller()) return false;
  for (int d = 0; d < on.dimensions; ++d)
    if (d != dimension && on.subscript[d].kind == NAGAYA_XMP_RANGE &&
        !has_caller_one_of(where, on, static_cast<size_t>(d)))
      return false;
  return true;
}

}  // namespace nagaya::xmp
