// SPDX-License-Identifier: BSD-3-Clause
#include "checks/communications.h"

#include <algorithm>

#include "checks/names.h"
#include "diagnostics.h"

namespace nagaya::xmp {
namespace {

void resolve_optional(Program& program, const std::optional<Reference>& reference, size_t offset) {
  if (reference) resolve(program, *reference, offset);
}

void check_optional(const Program& program, const std::optional<Expression>& expression,
                    size_t offset) {
  if (expression) check_expression(program, *expression, offset);
}

// Returns the distributed dimensions of the template with which the array is aligned: along these
// its blocks differ from process to process.
std::vector<size_t> distributed_dimensions(const ArraySymbol& array) {
  std::vector<size_t> found;
  for (const Alignment& alignment : array.alignment)
    if (alignment.dimension >= 0 &&
        array.with->is_distributed(static_cast<size_t>(alignment.dimension)))
      found.push_back(static_cast<size_t>(alignment.dimension));
  return found;
}

// Returns the dimension of the nodes that the template's `dimension` is distributed onto.
size_t axis_of(const TemplateSymbol& with, size_t dimension) {
  size_t axis = 0;
  for (size_t d = 0; d < dimension; ++d) axis += with.is_distributed(d);
  return axis;
}

// The processes of a communication. With `nest` it is a loop's reduction, which combines values
// only along the dimensions that the loop's indexes subscript.
struct Participants {
  const Reference* on = nullptr;  // nullptr: the executing nodes
  const Nest* nest = nullptr;

  // Whether no two processes of the communication differ in this dimension: it concerns one
  // coordinate only, or each coordinate separately.
  bool is_uniform_along(size_t dimension) const {
    if (on == nullptr || on->subscripts.empty()) return false;
    const Subscript::Kind kind = on->subscripts[dimension].kind;
    if (nest == nullptr) return kind == Subscript::kStar || on->subscripts[dimension].single;
    return (kind != Subscript::kRange || on->subscripts[dimension].single) &&
           nest->loop_along(dimension) == nullptr;
  }
};

// Checks that all processes of the communication have the same block of a distributed array. They
// do along dimensions of its template with which it is not aligned.
void check_replicated(const Program& program, const ArraySymbol& array, const Token& name,
                      const Participants& participants) {
  const std::vector<size_t> differ = distributed_dimensions(array);
  if (differ.empty()) return;
  const TemplateSymbol& with = *array.with;
  if (differ.size() == with.onto->dimensions())
    throw Complaint{name.place, "the array " + quoted(name) +
                                    " is distributed: no two processes have the same element"};
  if (participants.on != nullptr && !participants.on->executing) {
    const ResolvedReference& on = program.references.at(participants.on);
    const auto is_uniform_along = [&](size_t d) {
      return participants.is_uniform_along(on.nodes != nullptr ? axis_of(with, d) : d);
    };
    if ((on.of_template == &with || on.nodes == with.onto) &&
        std::all_of(differ.begin(), differ.end(), is_uniform_along))
      return;
  }
  std::string wanted = "on " + with.declared->name.text;
  for (size_t d = 0; d < with.dimensions(); ++d) {
    const bool differs = std::count(differ.begin(), differ.end(), d) != 0;
    wanted += participants.nest != nullptr ? (differs ? "[:]" : "[i]") : (differs ? "[*]" : "[:]");
  }
  throw Complaint{name.place, "the blocks of the array " + quoted(name) +
                                  " may differ between these processes; they are the same among "
                                  "those of " +
                                  (participants.nest != nullptr ? "a loop '" : "'") + wanted + "'"};
}

const Variable& check_data(const Program& program, const DataReference& data, size_t offset,
                           const Participants& participants = {}) {
  const Token& name = data.name;
  const Variable* variable = program.facts.lookup(name.text, offset);
  if (variable == nullptr) throw Complaint{name.place, quoted(name) + " is not declared"};
  if (variable->kind > Variable::kParameter)
    throw Complaint{name.place, quoted(name) + " is not a variable"};
  if (const ArraySymbol* array = program.array_of(variable->entity, offset)) {
    check_replicated(program, *array, name, participants);
    if (!data.indexes.empty() || data.length)
      throw Complaint{name.place,
                      "a part of the distributed array " + quoted(name) + " is not supported yet"};
  }
  const size_t subscripts = data.indexes.size() + (data.length ? 1 : 0);
  const size_t rank =
      variable->extents.empty() && variable->is_pointer ? 1 : variable->extents.size();
  if (subscripts > rank) throw Complaint{name.place, quoted(name) + " has too many subscripts"};
  if (variable->is_pointer && variable->extents.empty() && !data.length && data.indexes.empty())
    throw Complaint{name.place,
                    quoted(name) + " is a pointer; name the elements: " + name.text + "[0:n]"};
  if (subscripts == 0 && !variable->extents.empty() && !variable->extents[0].constant &&
      variable->extents[0].text.empty())
    throw Complaint{name.place, "the first extent of " + quoted(name) +
                                    " is not known; name the elements: " + name.text + "[0:n]"};
  for (const Expression& index : data.indexes) check_expression(program, index, offset);
  check_optional(program, data.base, offset);
  check_optional(program, data.length, offset);
  return *variable;
}

void check_width(const Program& program, const ReflectWidth& width, const ArraySymbol& array,
                 size_t d, size_t offset) {
  const Expression& high = width.high ? *width.high : width.low;
  check_expression(program, width.low, offset);
  check_expression(program, high, offset);
  const Alignment& alignment = array.alignment[d];
  if (width.periodic && alignment.has_full_shadow)
    throw Complaint{width.place, "dimension " + std::to_string(d + 1) + " of '" + array.name() +
                                     "' has a full shadow, which has nothing beyond the ends; "
                                     "leave out /periodic/"};
  const auto check_side = [&](const Expression& side, const std::optional<long>& shadow) {
    const std::optional<long> value = constant_of(program, side, offset);
    if (value && *value < 0)
      throw Complaint{width.place, "the width " + std::to_string(*value) + " is negative"};
    if (value && shadow && *value > *shadow)
      throw Complaint{width.place, "the width " + std::to_string(*value) +
                                       " is more than the shadow of '" + array.name() +
                                       "', which is " + std::to_string(*shadow) + " in dimension " +
                                       std::to_string(d + 1)};
  };
  check_side(width.low, alignment.low_width);
  check_side(high, alignment.high_width);
}

bool is_logical(ReductionOperation operation) {
  return operation == ReductionOperation::kAnd || operation == ReductionOperation::kOr ||
         operation == ReductionOperation::kXor;
}

bool is_bitwise(ReductionOperation operation) {
  return operation == ReductionOperation::kBitAnd || operation == ReductionOperation::kBitOr ||
         operation == ReductionOperation::kBitXor;
}

bool orders(ReductionOperation operation) {
  return operation >= ReductionOperation::kMax;
}

bool needs_location(ReductionOperation operation) {
  return operation >= ReductionOperation::kFirstMax;
}

bool is_last(ReductionOperation operation) {
  return operation == ReductionOperation::kLastMax || operation == ReductionOperation::kLastMin;
}

void check_type(const ReductionClause& clause, const Token& name, const Variable& variable) {
  const std::string& type = variable.reduction_type;
  if (type.empty())
    throw Complaint{name.place, quoted(name) + " has the type '" + variable.element +
                                    "', which has no reduction"};
  const bool is_complex = type.ends_with("_COMPLEX");
  if (is_complex && (orders(clause.operation) || is_logical(clause.operation)))
    throw Complaint{name.place,
                    quoted(name) + " is complex, which has no order; only + and * reduce it"};
  if (is_bitwise(clause.operation) && !variable.is_integer)
    throw Complaint{name.place, quoted(name) + " has the type '" + variable.element +
                                    "'; bitwise operations are for integers"};
}

void check_clause(const Program& program, const ReductionClause& clause, size_t offset,
                  const Participants& participants) {
  for (const ReductionVariable& reduced : clause.variables) {
    const Variable& variable = check_data(program, reduced.data, offset, participants);
    check_type(clause, reduced.data.name, variable);
    if (!reduced.locations.empty() && !orders(clause.operation))
      throw Complaint{reduced.locations.front().name.place,
                      "location variables are for maxima and minima: firstmax, firstmin, lastmax, "
                      "lastmin, max, min"};
    if (reduced.locations.empty() && needs_location(clause.operation))
      throw Complaint{clause.place, quoted(reduced.data.name) + " needs location variables: " +
                                        reduced.data.name.text + "/location/"};
    for (const DataReference& location : reduced.locations)
      check_data(program, location, offset, participants);
  }
}

}  // namespace

void check_reduction(const Program& program, const ReductionClause& clause,
                     const Directive& directive, const Reference& on) {
  check_clause(program, clause, directive.offset, {&on, &program.nests.at(&directive)});
}

void check_distinct(const std::vector<ReductionClause>& clauses) {
  std::vector<const DataReference*> seen;
  const auto check = [&](const DataReference& data) {
    const auto is_whole = [](const DataReference& d) { return d.indexes.empty() && !d.length; };
    for (const DataReference* earlier : seen)
      if (earlier->name.text == data.name.text && (is_whole(*earlier) || is_whole(data)))
        throw Complaint{data.name.place, quoted(data.name) +
                                             " stands twice in the reductions of this directive; "
                                             "each value and location needs its own variable"};
    seen.push_back(&data);
  };
  for (const ReductionClause& clause : clauses)
    for (const ReductionVariable& reduced : clause.variables) {
      check(reduced.data);
      for (const DataReference& location : reduced.locations) check(location);
    }
}

// If assignments to a value cannot record their iterations, equal values are ordered by node. In a
// single loop that is the order of iterations; but for a "last" operation a node without iterations
// would contribute its value from before the loop.
void check_order(const Program& program, const Unit& unit, const ReductionClause& clause,
                 const Directive& directive) {
  const Nest& nest = program.nests.at(&directive);
  for (const ReductionVariable& reduced : clause.variables) {
    if (reduced.locations.empty()) continue;
    const Token& name = reduced.data.name;
    const Variable& variable = *program.facts.lookup(name.text, directive.offset);
    const bool is_scalar =
        variable.extents.empty() && reduced.data.indexes.empty() && !reduced.data.length;
    if (!is_scalar || !program.is_accessed_by_name_only(variable, program.range_of(nest))) {
      if (nest.all_loops.size() == 1 && !is_last(clause.operation)) continue;
      throw Complaint{name.place, "which iteration gives " + quoted(name) +
                                      " its value is not known here; reduce a variable of the "
                                      "function that is no array and whose address is not taken"};
    }
    for (const Use* use : program.writes_of(variable.entity, program.range_of(nest)))
      for (const size_t loop : nest.all_loops)
        if (const std::string index = program.index_name(loop);
            program.facts.lookup(index, use->name.begin)->entity != program.facts.loops[loop].index)
          throw Complaint{unit.printed.place(use->name.begin),
                          "the index '" + index + "' of a loop around this is hidden here"};
  }
}

void check_communication(Program& program, const Directive& directive,
                         const ReflectDirective& reflect) {
  check_optional(program, reflect.async, directive.offset);
  for (const Token& name : reflect.arrays) {
    const ArraySymbol& array = require_array(program, name, directive.offset);
    if (array.shadow == nullptr)
      throw Complaint{
          name.place,
          quoted(name) + " has no shadow; write '#pragma xmp shadow' after its align directive"};
    if (reflect.widths.empty()) continue;
    if (reflect.widths.size() != array.rank())
      throw Complaint{reflect.widths.front().place,
                      other_rank(quoted(name), array.rank(), reflect.widths.size())};
    for (size_t d = 0; d < array.rank(); ++d)
      check_width(program, reflect.widths[d], array, d, directive.offset);
  }
}

void check_communication(Program& program, const Directive& directive,
                         const ReduceShadowDirective& reduce) {
  check_communication(program, directive, reduce.shadows);
  for (const Token& name : reduce.shadows.arrays) {
    const Variable& variable = *require_array(program, name, directive.offset).variable;
    if (variable.reduction_type.empty())
      throw Complaint{name.place, quoted(name) + " has elements of the type '" + variable.element +
                                      "', which has no sum"};
  }
}

void check_communication(Program& program, const Directive& directive,
                         const WaitAsyncDirective& wait) {
  for (const Expression& number : wait.numbers) check_expression(program, number, directive.offset);
  resolve_optional(program, wait.on, directive.offset);
}

void check_communication(Program& program, const Directive& directive,
                         const BarrierDirective& barrier) {
  resolve_optional(program, barrier.on, directive.offset);
}

void check_communication(Program& program, const Directive& directive,
                         const BcastDirective& bcast) {
  resolve_optional(program, bcast.from, directive.offset);
  resolve_optional(program, bcast.on, directive.offset);
  for (const DataReference& data : bcast.variables)
    check_data(program, data, directive.offset, {bcast.on ? &*bcast.on : nullptr});
  check_optional(program, bcast.async, directive.offset);
  if (!bcast.from || bcast.from->executing) return;
  for (const Subscript& subscript : bcast.from->subscripts)
    if (!subscript.single && subscript.kind != Subscript::kStar)
      throw Complaint{subscript.place, "the source of a broadcast must be one node"};
}

void check_communication(Program& program, const Directive& directive,
                         const ReductionDirective& reduction) {
  resolve_optional(program, reduction.on, directive.offset);
  check_clause(program, reduction.reduction, directive.offset,
               {reduction.on ? &*reduction.on : nullptr});
  check_distinct({reduction.reduction});
  check_optional(program, reduction.async, directive.offset);
}

}  // namespace nagaya::xmp
