// SPDX-License-Identifier: BSD-3-Clause
#include "checks/program.h"

#include <algorithm>

namespace nagaya::xmp {
namespace {

template <typename Symbols>
auto innermost(const Symbols& symbols, const std::string& name, size_t offset) ->
    typename Symbols::const_pointer {
  typename Symbols::const_pointer best = nullptr;
  for (const auto& symbol : symbols)
    if (symbol.declared->name.text == name && symbol.scope.contains(offset) &&
        (best == nullptr || symbol.scope.begin >= best->scope.begin))
      best = &symbol;
  return best;
}

}  // namespace

bool TemplateSymbol::lacks_sizes() const {
  return distribution != nullptr &&
         std::ranges::any_of(distribution->formats, [](const DistributionFormat& format) {
           return format.kind == DistributionFormat::kGblock && !format.sizes;
         });
}

std::vector<std::string> ArraySymbol::c_names() const {
  std::vector<std::string> names = {c_name(), type_name(), rows()};
  for (size_t d = 0; d < rank(); ++d)
    names.insert(names.end(), {offset_name(d), cycle_name(d), count_name(d)});
  return names;
}

const DistributedLoop* Nest::loop_along(size_t dimension) const {
  const auto found = std::ranges::find(loops, dimension, &DistributedLoop::dimension);
  return found == loops.end() ? nullptr : &*found;
}

size_t GmoveSide::sections() const {
  return use == nullptr ? 0
                        : static_cast<size_t>(std::ranges::count_if(
                              use->subscripts, [](const Use::Subscript& subscript) {
                                return subscript.section.has_value();
                              }));
}

bool Program::is_side_of_gmove(const Use& use) const {
  return std::ranges::any_of(gmoves, [&](const auto& one) {
    return one.second.left.use == &use || one.second.right.use == &use;
  });
}

bool Program::is_side_of_sections(const CoindexUse& use) const {
  return std::ranges::any_of(section_assignments, [&](const SectionAssignment& one) {
    return one.to_image == &use || one.from_image == &use;
  });
}

bool Program::is_atom(const CoindexUse& use) const {
  return std::ranges::any_of(facts.atomic_calls, [&](const AtomicCall& call) {
    return call.atom.begin == use.lvalue.begin && call.atom.end == use.lvalue.end;
  });
}

const NodesSymbol* Program::find_nodes(const std::string& name, size_t offset) const {
  return innermost(nodes, name, offset);
}

const TemplateSymbol* Program::find_template(const std::string& name, size_t offset) const {
  return innermost(templates, name, offset);
}

const ArraySymbol* Program::array_of(size_t entity, size_t offset) const {
  const ArraySymbol* best = nullptr;
  for (const ArraySymbol& array : arrays)
    if (array.variable->entity == entity && array.scope.contains(offset)) best = &array;
  return best;
}

const ArraySymbol* Program::find_array(const std::string& name, size_t offset) const {
  const Variable* variable = facts.lookup(name, offset);
  return variable == nullptr ? nullptr : array_of(variable->entity, offset);
}

const CoarraySymbol* Program::coarray_of(size_t entity) const {
  for (const CoarraySymbol& coarray : coarrays)
    if (coarray.variable->entity == entity) return &coarray;
  return nullptr;
}

const Variable& Program::variable_of(size_t entity) const {
  return *std::ranges::find(facts.variables, entity, &Variable::entity);
}

const Use* Program::array_use_in(const Range& range) const {
  for (const Use& use : facts.uses)
    if (range.contains(use.name) && array_of(use.entity, use.name.begin) != nullptr) return &use;
  return nullptr;
}

bool Program::uses_array(const Range& range, const ArraySymbol& array) const {
  return std::ranges::any_of(facts.uses, [&](const Use& use) {
    return !use.unevaluated && range.contains(use.name) &&
           array_of(use.entity, use.name.begin) == &array;
  });
}

const Directive* Program::template_fix_of(const ArraySymbol& array,
                                          const Function& function) const {
  if (array.is_allocated()) return nullptr;
  for (const Directive& directive : directives) {
    const auto* fix = std::get_if<TemplateFixDirective>(&directive.body);
    const bool is_later = array.home == ArraySymbol::kFile || directive.offset >= array.declared_at;
    if (fix != nullptr && is_later && function.body.contains(directive.offset) &&
        find_template(fix->fixed.name.text, directive.offset) == array.with)
      return &directive;
  }
  return nullptr;
}

bool Program::may_be_fixed_elsewhere(const ArraySymbol& array, const Function& function) const {
  if (array.is_allocated()) return true;
  return array.home != ArraySymbol::kFormal && array.with->is_fixed_later() &&
         template_fix_of(array, function) == nullptr;
}

bool Program::is_accessed_by_name_only(const Variable& variable, const Range& range) const {
  for (const Use& use : facts.uses)
    if (use.entity == variable.entity && use.address_of) return false;
  if (variable.is_external || variable.is_static)
    for (const Call& call : facts.calls)
      if (range.contains(call.offset)) return false;
  if (variable.is_external)
    for (const size_t store : facts.pointer_stores)
      if (range.contains(store)) return false;
  return true;
}

std::vector<const Use*> Program::writes_of(size_t entity, const Range& range) const {
  std::vector<const Use*> found;
  for (const Use& use : facts.uses)
    if (use.entity == entity && use.written && range.contains(use.name)) found.push_back(&use);
  return found;
}

std::string Program::index_name(size_t loop) const {
  const size_t entity = facts.loops[loop].index;
  for (const Variable& variable : facts.variables)
    if (variable.entity == entity && entity != kNone) return variable.name;
  return "";
}

}  // namespace nagaya::xmp
