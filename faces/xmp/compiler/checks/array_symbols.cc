// SPDX-License-Identifier: BSD-3-Clause
// array_symbols.cc - checks the directives align and shadow.
#include <algorithm>

#include "checks/names.h"
#include "checks/symbols.h"
#include "diagnostics.h"
#include "directives/cursor.h"
#include "directives/expression.h"

namespace nagaya::xmp {
namespace {

// Checks that each index in the array's subscripts stands in the template's, and vice versa.
void check_indexes(const AlignDirective& align) {
  for (size_t d = 1; d < align.sources.size(); ++d)
    for (size_t earlier = 0; earlier < d; ++earlier)
      if (align.sources[d].kind == AlignSource::kIndex &&
          align.sources[d].token.text == align.sources[earlier].token.text)
        throw Complaint{align.sources[d].token.place,
                        quoted(align.sources[d].token) + " stands twice"};
  const auto times_in = [](const auto& list, const AlignSource& index) {
    return std::ranges::count(list, index.token.text,
                              [](const AlignSource& one) { return one.token.text; });
  };
  for (const AlignSource& source : align.sources)
    if (source.kind == AlignSource::kIndex && times_in(align.subscripts, source) == 0)
      throw Complaint{
          source.token.place,
          quoted(source.token) + " is not a subscript of the template " + quoted(align.with)};
  for (const AlignSubscript& subscript : align.subscripts) {
    if (subscript.kind != AlignSource::kIndex) continue;
    if (times_in(align.sources, subscript) == 0)
      throw Complaint{
          subscript.token.place,
          quoted(subscript.token) + " is not an index of the array " + quoted(align.array)};
    if (times_in(align.subscripts, subscript) > 1)
      throw Complaint{subscript.token.place, quoted(subscript.token) + " stands twice"};
  }
  const auto colons = [](const auto& list) {
    return std::ranges::count(list, AlignSource::kColon, &AlignSource::kind);
  };
  if (colons(align.sources) != colons(align.subscripts))
    throw Complaint{align.with.place, "the array " + quoted(align.array) + " and the template " +
                                          quoted(align.with) + " need equally many colons"};
}

}  // namespace

// Returns the pointer as a variable with the extents of the array that it points to.
const Variable& SymbolTable::pointer_variable(const Variable& pointer) {
  Variable& variable = program_.pointers.emplace_back(pointer);
  variable.extents = pointer.pointee_extents;
  variable.element = pointer.pointee_element;
  variable.reduction_type = pointer.pointee_reduction_type;
  return variable;
}

const Variable& SymbolTable::aligned_variable(const AlignDirective& align, size_t offset) {
  const Token& name = align.array;
  const Variable* variable = program_.facts.lookup(name.text, offset);
  if (variable == nullptr)
    throw Complaint{name.place,
                    quoted(name) + " is not declared; declare the array before it is aligned"};
  const bool is_pointer = variable->is_pointer && variable->extents.empty();
  if (variable->kind > Variable::kParameter || (variable->extents.empty() && !is_pointer))
    throw Complaint{name.place, quoted(name) + " is not an array"};
  if (program_.array_of(variable->entity, offset) != nullptr)
    throw Complaint{name.place, quoted(name) + " is aligned twice"};
  if (variable->is_external && !variable->file_scope)
    throw Complaint{name.place, quoted(name) +
                                    " is an array of file scope: declare and align it "
                                    "there, not in a function"};
  if (is_pointer) variable = &pointer_variable(*variable);
  if (variable->has_initialiser && !is_pointer)
    throw Complaint{name.place, "the distributed array " + quoted(name) +
                                    " cannot have an initialiser; assign in a loop"};
  for (const Extent& extent : variable->extents)
    if (!is_pointer && !extent.constant && extent.text.empty())
      throw Complaint{name.place, "the extents of " + quoted(name) + " must all be written"};
  if (variable->file_scope && !is_pointer)
    for (const Extent& extent : variable->extents)
      if (!extent.constant)
        throw Complaint{name.place,
                        "the extents of " + quoted(name) + " must be constants at file scope"};
  if (variable->is_aligned)
    throw Complaint{name.place, "the distributed array " + quoted(name) +
                                    " cannot have an alignment: its blocks have the runtime's"};
  for (const Extent& extent : variable->extents)
    if (!extent.constant && program_.array_use_in(extent.written) != nullptr)
      throw Complaint{name.place, "the extents of " + quoted(name) +
                                      " cannot use a distributed array; copy the value to a "
                                      "variable first"};
  if (align.sources.size() != variable->extents.size())
    throw Complaint{name.place,
                    other_rank(quoted(name), variable->extents.size(), align.sources.size())};
  require_dimensions(name, variable->extents.size());
  return *variable;
}

// Checks that an expression in the directives of a file's array, which is made when the program
// begins, has no names of a function.
void SymbolTable::require_known_at_start(const ArraySymbol& array, const Expression& expression,
                                         size_t offset) const {
  if (array.home != ArraySymbol::kFile) return;
  for (const Token* name : names_in(expression)) {
    const Variable* variable = program_.facts.lookup(name->text, offset);
    if (variable != nullptr && (variable->kind == Variable::kParameter ||
                                program_.facts.block_at(variable->name_offset) != kNone))
      throw Complaint{name->place, quoted(*name) + " is not known where the array " +
                                       quoted(array.align->array) + " of the file is made"};
  }
}

void SymbolTable::match_subscripts(const Directive& directive, const AlignDirective& align,
                                   ArraySymbol& array) {
  const auto dimension_of = [&](const AlignSource& source, size_t colon) {
    size_t colons = 0;
    for (size_t d = 0; d < align.subscripts.size(); ++d) {
      const AlignSubscript& subscript = align.subscripts[d];
      if (subscript.kind != source.kind) continue;
      if (source.kind == AlignSource::kIndex ? subscript.token.text == source.token.text
                                             : colons++ == colon)
        return static_cast<int>(d);
    }
    return -1;
  };
  size_t colon = 0;
  for (const AlignSource& source : align.sources) {
    Alignment alignment;
    if (source.kind != AlignSource::kStar) {
      alignment.dimension = dimension_of(source, colon);
      colon += source.kind == AlignSource::kColon;
      alignment.offset = align.subscripts[static_cast<size_t>(alignment.dimension)].offset;
      check_bound(program_, alignment.offset, directive.offset);
      for (const Expression& expression : alignment.offset.expressions)
        require_known_at_start(array, expression, directive.offset);
    }
    array.alignment.push_back(alignment);
  }
}

void SymbolTable::declare(const Directive& directive, const AlignDirective& align) {
  const Variable& variable = aligned_variable(align, directive.offset);
  const TemplateSymbol& with = require_template(program_, align.with, directive.offset);
  if (with.distribution == nullptr)
    throw Complaint{align.with.place,
                    "the template " + quoted(align.with) +
                        " is not distributed; write '#pragma xmp distribute' before"};
  if (align.subscripts.size() != with.dimensions())
    throw Complaint{align.with.place, other_rank("the template " + quoted(align.with),
                                                 with.dimensions(), align.subscripts.size())};
  if (variable.is_static && !variable.file_scope && !with.file_scope)
    throw Complaint{align.with.place, "the static array " + quoted(align.array) +
                                          " outlives the template " + quoted(align.with) +
                                          "; declare the template at file scope"};
  if (variable.file_scope && in_function(directive.offset) && !with.file_scope)
    throw Complaint{align.array.place, quoted(align.array) +
                                           " is declared at file scope; align it there, or with a "
                                           "template of file scope"};
  ArraySymbol array{};
  array.home = variable.kind == Variable::kParameter ? ArraySymbol::kFormal
               : variable.file_scope                 ? ArraySymbol::kFile
                                                     : ArraySymbol::kLocal;
  array.variable = &variable;
  array.is_pointer = variable.is_pointer && !variable.pointee_extents.empty();
  array.align = &align;
  array.with = &with;
  array.declared_at = directive.offset;
  array.scope = program_.facts.scope_from(directive.offset, text_size_);
  check_indexes(align);
  match_subscripts(directive, align, array);
  program_.arrays.push_back(std::move(array));
}

namespace {

void set_full_shadow(Alignment& alignment) {
  alignment.has_full_shadow = true;
  alignment.shadow_low = alignment.shadow_high = {"NAGAYA_XMP_FULL_SHADOW", {}};
  alignment.low_width = alignment.high_width = std::nullopt;
}

}  // namespace

void SymbolTable::set_shadow(ArraySymbol& array, const ShadowDirective& shadow, size_t offset) {
  for (size_t d = 0; d < array.rank(); ++d) {
    const ShadowWidth& width = shadow.widths[d];
    Alignment& alignment = array.alignment[d];
    if (width.is_full) {
      set_full_shadow(alignment);
      continue;
    }
    const Expression& high = width.high ? *width.high : *width.low;
    for (const Expression* side : {&*width.low, &high}) {
      check_expression(program_, *side, offset);
      require_known_at_start(array, *side, offset);
      const std::optional<long> value = constant_of(program_, *side, offset);
      if (value && *value < 0)
        throw Complaint{width.place,
                        "the width " + std::to_string(*value) + " of a shadow is negative"};
    }
    alignment.shadow_low = bound_of(*width.low);
    alignment.shadow_high = bound_of(high);
    alignment.low_width = constant_of(program_, *width.low, offset);
    alignment.high_width = constant_of(program_, high, offset);
    const bool block = alignment.dimension >= 0 &&
                       array.with->is_distributed(static_cast<size_t>(alignment.dimension)) &&
                       !array.cyclic(d);
    const bool none = alignment.low_width == 0 && alignment.high_width == 0;
    if (!block && !none)
      throw Complaint{width.place,
                      "dimension " + std::to_string(d + 1) + " of " + quoted(shadow.array) +
                          " is not distributed by block or gblock, so it has no shadow; write 0"};
  }
}

void SymbolTable::declare(const Directive& directive, const ShadowDirective& shadow) {
  const ArraySymbol& found = require_array(program_, shadow.array, directive.offset);
  if (found.shadow != nullptr)
    throw Complaint{shadow.array.place, quoted(shadow.array) + " has its shadow declared twice"};
  if (program_.facts.block_at(found.declared_at) != program_.facts.block_at(directive.offset))
    throw Complaint{shadow.array.place,
                    "the shadow of " + quoted(shadow.array) +
                        " must be declared in the scope of its align directive"};
  if (shadow.widths.size() != found.rank())
    throw Complaint{shadow.array.place,
                    other_rank(quoted(shadow.array), found.rank(), shadow.widths.size())};
  for (ArraySymbol& array : program_.arrays) {
    if (&array != &found) continue;
    set_shadow(array, shadow, directive.offset);
    array.shadow = &shadow;
    array.declared_at = directive.offset;
  }
}

}  // namespace nagaya::xmp
