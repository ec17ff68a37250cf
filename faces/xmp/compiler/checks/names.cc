// SPDX-License-Identifier: BSD-3-Clause
#include "checks/names.h"

#include "diagnostics.h"
#include "directives/expression.h"

namespace nagaya::xmp {
namespace {

void check_subscripts(const Program& program, const Reference& reference, size_t dimensions,
                      const char* meaning, size_t offset) {
  if (!reference.subscripts.empty() && reference.subscripts.size() != dimensions)
    throw Complaint{reference.name.place,
                    other_rank(std::string(meaning) + " " + quoted(reference.name), dimensions,
                               reference.subscripts.size())};
  for (const Subscript& subscript : reference.subscripts)
    for (const Bound* bound : {&subscript.low, &subscript.high, &subscript.step})
      check_bound(program, *bound, offset);
}

}  // namespace

std::string quoted(const Token& token) {
  return "'" + token.text + "'";
}

std::string other_rank(const std::string& what, size_t has, size_t wants) {
  return what + " has " + std::to_string(has) + " dimension" + (has == 1 ? "" : "s") + ", not " +
         std::to_string(wants);
}

void require_dimensions(const Token& name, size_t dimensions) {
  constexpr size_t kDimensionsMax = 7;
  if (dimensions > kDimensionsMax)
    throw Complaint{name.place, quoted(name) + " has " + std::to_string(dimensions) +
                                    " dimensions; 7 is the most"};
}

void check_expression(const Program& program, const Expression& expression, size_t offset) {
  for (const Token* name : names_in(expression)) {
    const Variable* variable = program.facts.lookup(name->text, offset);
    if (variable == nullptr) {
      if (name->text.starts_with("__builtin_")) continue;
      throw Complaint{name->place, quoted(*name) + " is not declared"};
    }
    if (variable->kind == Variable::kType)
      throw Complaint{name->place, quoted(*name) + " is a type, not a value"};
    if (program.array_of(variable->entity, offset) != nullptr)
      throw Complaint{name->place, "the distributed array " + quoted(*name) +
                                       " cannot be used in a directive's expression; copy the "
                                       "element to a variable first"};
  }
}

void check_bound(const Program& program, const Bound& bound, size_t offset) {
  for (const Expression& expression : bound.expressions)
    check_expression(program, expression, offset);
}

std::optional<long> constant_of(const Program& program, const Expression& expression,
                                size_t offset) {
  return constant_value(expression, [&](const std::string& name) -> std::optional<long> {
    const Variable* variable = program.facts.lookup(name, offset);
    return variable == nullptr ? std::nullopt : variable->constant;
  });
}

void resolve(Program& program, const Reference& reference, size_t offset) {
  if (reference.executing) {
    program.references[&reference] = {};
    return;
  }
  const Token& name = reference.name;
  const NodesSymbol* nodes = program.find_nodes(name.text, offset);
  const TemplateSymbol* of_template = program.find_template(name.text, offset);
  if (nodes == nullptr && of_template == nullptr)
    throw Complaint{name.place, quoted(name) +
                                    " is neither nodes nor a template; declare it by "
                                    "'#pragma xmp nodes' or '#pragma xmp template'"};
  // If the name is both nodes and a template, the inner declaration hides the outer one.
  const bool is_nodes =
      of_template == nullptr || (nodes != nullptr && nodes->scope.begin > of_template->scope.begin);
  if (!is_nodes && of_template->distribution == nullptr)
    throw Complaint{name.place, "the template " + quoted(name) +
                                    " is not distributed; write '#pragma xmp "
                                    "distribute' before"};
  check_subscripts(program, reference, is_nodes ? nodes->dimensions() : of_template->dimensions(),
                   is_nodes ? "nodes" : "the template", offset);
  program.references[&reference] = {is_nodes ? nodes : nullptr, is_nodes ? nullptr : of_template};
}

const NodesSymbol& require_nodes(const Program& program, const Token& name, size_t offset) {
  if (const NodesSymbol* found = program.find_nodes(name.text, offset)) return *found;
  throw Complaint{name.place, quoted(name) + (program.find_template(name.text, offset) != nullptr
                                                  ? " is a template, not nodes"
                                                  : " is not declared; write '#pragma xmp nodes " +
                                                        name.text + "(*)' before")};
}

const TemplateSymbol& require_template(const Program& program, const Token& name, size_t offset) {
  if (const TemplateSymbol* found = program.find_template(name.text, offset)) return *found;
  throw Complaint{name.place, quoted(name) + (program.find_nodes(name.text, offset) != nullptr
                                                  ? " is nodes, not a template"
                                                  : " is not a declared template; write '#pragma "
                                                    "xmp template " +
                                                        name.text + "(...)' before")};
}

const ArraySymbol& require_array(const Program& program, const Token& name, size_t offset) {
  const Variable* variable = program.facts.lookup(name.text, offset);
  if (variable == nullptr) throw Complaint{name.place, quoted(name) + " is not declared"};
  if (const ArraySymbol* found = program.array_of(variable->entity, offset)) return *found;
  throw Complaint{name.place, quoted(name) + " is not a distributed array; align it first"};
}

}  // namespace nagaya::xmp
