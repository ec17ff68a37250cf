// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/facts.h"

namespace nagaya::xmp {

void Facts::add_sections(const std::vector<Section>& sections) {
  std::map<size_t, const Section*> by_bracket;
  for (const Section& section : sections) by_bracket.emplace(section.open, &section);
  for (Use& use : uses)
    for (Use::Subscript& subscript : use.subscripts)
      if (const auto found = by_bracket.find(subscript.open); found != by_bracket.end())
        subscript.section = *found->second;
}

void Facts::index_names() {
  for (size_t i = 0; i < variables.size(); ++i) by_name_.emplace(variables[i].name, i);
}

const Variable* Facts::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &variables[found->second];
}

const Variable* Facts::lookup(const std::string& name, size_t offset) const {
  const Variable* best = nullptr;
  const auto [first, last] = by_name_.equal_range(name);
  for (auto at = first; at != last; ++at) {
    const Variable& candidate = variables[at->second];
    if (candidate.visible_from > offset || !candidate.scope.contains(offset)) continue;
    if (best == nullptr || candidate.scope.begin >= best->scope.begin) best = &candidate;
  }
  return best;
}

size_t Facts::statement_at(size_t offset) const {
  size_t found = kNone;
  for (size_t i = 0; i < statements.size(); ++i)
    if (statements[i].range.begin < offset && offset < statements[i].range.end &&
        (found == kNone || statements[found].range.contains(statements[i].range)))
      found = i;
  return found;
}

size_t Facts::statement_behind(size_t offset) const {
  size_t found = kNone;
  for (size_t i = 0; i < statements.size(); ++i)
    if (statements[i].range.begin >= offset &&
        (found == kNone || statements[i].range.begin < statements[found].range.begin))
      found = i;
  return found;
}

size_t Facts::block_at(size_t offset) const {
  size_t at = statement_at(offset);
  while (at != kNone && statements[at].kind != Statement::kCompound) at = statements[at].parent;
  return at;
}

const Function* Facts::function_at(size_t offset) const {
  for (const Function& function : functions)
    if (function.body.contains(offset)) return &function;
  return nullptr;
}

Range Facts::scope_from(size_t offset, size_t text_size) const {
  const size_t block = block_at(offset);
  return {offset, block == kNone ? text_size : statements[block].range.end};
}

}  // namespace nagaya::xmp
