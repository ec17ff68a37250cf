// SPDX-License-Identifier: BSD-3-Clause
#include "checks/gmoves.h"

#include <algorithm>

#include "checks/names.h"
#include "diagnostics.h"

namespace nagaya::xmp {
namespace {

// Returns the use that is the whole range: name, or name and its subscripts; nullptr: none is.
const Use* use_of(const Facts& facts, const Range& range) {
  for (const Use& use : facts.uses) {
    const size_t end = use.subscripts.empty() ? use.name.end : use.subscripts.back().close + 1;
    if (use.name.begin == range.begin && end == range.end && !use.reversed) return &use;
  }
  return nullptr;
}

GmoveSide side_of(const Program& program, const Range& range) {
  GmoveSide side{range, use_of(program.facts, range)};
  if (side.use == nullptr) return side;
  const auto declared =
      std::ranges::find(program.facts.variables, side.use->entity, &Variable::entity);
  side.variable = &*declared;
  side.array = program.array_of(side.use->entity, side.use->name.begin);
  return side;
}

// Checks that the side is an element or a section of elements, with a subscript for each dimension.
void check_subscripts(const GmoveSide& side, const Place& place) {
  const Variable& variable = *side.variable;
  const bool is_pointer =
      side.array == nullptr && variable.is_pointer && !side.use->subscripts.empty();
  const size_t rank =
      side.array != nullptr ? side.array->rank() : variable.extents.size() + (is_pointer ? 1 : 0);
  if (side.use->subscripts.size() != rank)
    throw Complaint{place,
                    other_rank("'" + variable.name + "'", rank, side.use->subscripts.size())};
  if (is_pointer && !variable.extents.empty())
    throw Complaint{place, "'" + variable.name + "' is an array of pointers; gmove needs elements"};
}

bool have_same_element(const Variable& a, const Variable& b) {
  return a.reduction_type == b.reduction_type &&
         (!a.reduction_type.empty() || a.innermost == b.innermost);
}

}  // namespace

void check_gmove(Program& program, const Unit& unit, const Directive& directive,
                 const GmoveDirective& gmove, const Assignment& assignment) {
  if (gmove.async) check_expression(program, *gmove.async, directive.offset);
  Gmove found{side_of(program, assignment.left), side_of(program, assignment.right),
              assignment.sign};
  const auto place = [&](const GmoveSide& side) { return unit.printed.place(side.range.begin); };
  if (found.left.use == nullptr)
    throw Complaint{place(found.left),
                    "the left side of a 'gmove' is a variable, an element or a section"};
  // A variable or element of each node, of another type: a value, which C converts.
  if (found.right.use != nullptr && found.right.array == nullptr && found.right.sections() == 0 &&
      !have_same_element(*found.left.variable, *found.right.variable))
    found.right.use = nullptr;
  for (const GmoveSide* side : {&found.left, &found.right})
    if (side->use != nullptr && side->needs_subscripts()) check_subscripts(*side, place(*side));
  for (const Section& section : unit.sections)
    if (found.right.use == nullptr && found.right.range.contains(section.open))
      throw Complaint{unit.printed.place(section.open),
                      "the right side of a 'gmove' is one section, or a value without sections; "
                      "compute by the directive 'array'"};
  const size_t left = found.left.sections(), right = found.right.sections();
  if (right != 0 && left != right)
    throw Complaint{place(found.right),
                    "the sides of the 'gmove' do not conform: the left one has " +
                        std::to_string(left) + " dimension" + (left == 1 ? "" : "s") +
                        " with a section, the right one " + std::to_string(right)};
  if (found.right.use != nullptr && found.right.needs_subscripts() &&
      !have_same_element(*found.left.variable, *found.right.variable))
    throw Complaint{place(found.right),
                    "a 'gmove' does not convert: the left side has elements of "
                    "type '" +
                        found.left.variable->element + "', the right one of '" +
                        found.right.variable->element + "'"};
  if (gmove.mode == GmoveDirective::kIn && found.right.array == nullptr)
    throw Complaint{place(found.right), "the right side of a 'gmove in' is a distributed array"};
  if (gmove.mode == GmoveDirective::kOut && found.left.array == nullptr)
    throw Complaint{place(found.left), "the left side of a 'gmove out' is a distributed array"};
  program.gmoves.emplace(&directive, found);
}

}  // namespace nagaya::xmp
