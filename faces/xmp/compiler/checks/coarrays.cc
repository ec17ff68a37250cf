// SPDX-License-Identifier: BSD-3-Clause
#include "checks/coarrays.h"

#include <algorithm>

#include "checks/names.h"

namespace nagaya::xmp {
namespace {

CoarraySymbol& add(Program& program, const Token& name, size_t offset) {
  const Variable* variable = program.facts.lookup(name.text, offset);
  if (variable == nullptr) throw Complaint{name.place, quoted(name) + " is not declared"};
  if (variable->kind != Variable::kObject || !variable->file_scope)
    throw Complaint{name.place, quoted(name) + " is no variable at file scope, as a coarray is"};
  if (program.array_of(variable->entity, offset) != nullptr)
    throw Complaint{name.place, quoted(name) + " is distributed; it cannot be a coarray, too"};
  for (CoarraySymbol& coarray : program.coarrays)
    if (coarray.variable->entity == variable->entity) return coarray;
  program.coarrays.push_back({variable, name, {}, false, nullptr});
  return program.coarrays.back();
}

// Enters the codimensions but the last one, which must be the same wherever they are written.
void set_codimensions(CoarraySymbol& coarray, const Token& name,
                      std::vector<std::string> codimensions) {
  if (coarray.has_codimensions && coarray.codimensions != codimensions)
    throw Complaint{name.place,
                    quoted(name) + " has other codimensions where it is declared first"};
  coarray.codimensions = std::move(codimensions);
  coarray.has_codimensions = true;
}

// Returns the use of the variable at the beginning of the range; nullptr: there is none.
const Use* root_of(const Program& program, const Range& range) {
  for (const Use& use : program.facts.uses)
    if (range.contains(use.name)) return &use;
  return nullptr;
}

std::string without_subscripts(const std::string& text) {
  std::string outside;
  int depth = 0;
  for (const char character : text) {
    depth += character == '[';
    if (depth == 0) outside += character;
    depth -= character == ']';
  }
  return outside;
}

const CoarraySymbol& coarray_in(const Program& program, const Unit& unit, const Range& range,
                                const Place& place) {
  const Use* root = root_of(program, range);
  const CoarraySymbol* coarray = root == nullptr ? nullptr : program.coarray_of(root->entity);
  const std::string text = unit.printed.text().substr(range.begin, range.end - range.begin);
  if (coarray == nullptr)
    throw Complaint{place, "'" + text + "' is not a coarray; declare it at file scope: name:[*]"};
  const size_t rank = coarray->variable->extents.size();
  if (without_subscripts(text).find("->") != std::string::npos || root->subscripts.size() > rank)
    throw Complaint{place, "'" + text + "' lies behind a pointer, not in the coarray '" +
                               coarray->variable->name + "'"};
  return *coarray;
}

void check_images(const CoarraySymbol& coarray, size_t count, const Place& place) {
  const size_t has = coarray.codimensions.size() + 1;
  if (coarray.has_codimensions && count != has)
    throw Complaint{place, "'" + coarray.variable->name + "' has " + std::to_string(has) +
                               " codimensions, not " + std::to_string(count)};
}

bool is_same(const Range& a, const Range& b) {
  return a.begin == b.begin && a.end == b.end;
}

// Returns how the side of an assignment is a reference to another image; nullptr: it is none.
const CoindexUse* image_of(const Program& program, const Range& side) {
  for (const CoindexUse& use : program.facts.coindex_uses)
    if (is_same(use.lvalue, side)) return &use;
  return nullptr;
}

bool has_section(const Use& use) {
  return std::ranges::any_of(use.subscripts,
                             [](const Use::Subscript& one) { return one.section.has_value(); });
}

// Returns the number of subscripts that an element of an array or behind a pointer has.
size_t rank_of(const Variable& variable) {
  const bool is_pointer = variable.is_pointer && variable.extents.empty();
  return (is_pointer ? variable.pointee_extents : variable.extents).size();
}

// Returns the variable of a side that is an element or a section of one.
const Use* variable_of(const Program& program, const Unit& unit, const Range& side,
                       const CoindexUse* image) {
  const Range text = image == nullptr ? side : unit.coindexes[image->coindex].local;
  const Use* use = root_of(program, text);
  if (use == nullptr || use->name.begin != text.begin) return nullptr;
  const size_t end = use->subscripts.empty() ? use->name.end : use->subscripts.back().close + 1;
  return end == text.end ? use : nullptr;
}

// Checks that the sections of a side are subscripts of its variable, whose extents are known where
// a section needs them.
void check_sections(const Program& program, const Unit& unit, const Range& side, const Use* use) {
  for (const Section& section : unit.sections) {
    if (!side.contains(section.open)) continue;
    const Place place = unit.printed.place(section.open);
    size_t d = 0;
    while (use != nullptr && d < use->subscripts.size() && use->subscripts[d].open != section.open)
      ++d;
    if (use == nullptr || d == use->subscripts.size())
      throw Complaint{place,
                      "an array section stands alone on its side of the assignment: "
                      "name[base:length] = ..."};
    const Variable& variable = program.variable_of(use->entity);
    const size_t rank = rank_of(variable);
    if (use->subscripts.size() < rank)
      throw Complaint{place, other_rank("'" + variable.name + "'", rank, use->subscripts.size())};
    const bool is_formal_or_pointer = variable.kind == Variable::kParameter || variable.is_pointer;
    if (d == 0 && section.length.is_empty() && is_formal_or_pointer)
      throw Complaint{place, "this section needs its length: [base:length]"};
  }
}

void check_one_node(Program& program, const Reference& node, size_t offset) {
  resolve(program, node, offset);
  if (node.executing) throw Complaint{node.name.place, "'*' is not one node; name one: p[0]"};
}

}  // namespace

void declare_coarray(Program& program, const CoarrayDeclaration& declared) {
  CoarraySymbol& coarray = add(program, declared.name, declared.offset);
  std::vector<std::string> codimensions;
  for (const std::vector<Token>& tokens : declared.codimensions) {
    if (tokens.empty()) throw Complaint{declared.place, "a codimension is empty"};
    codimensions.push_back(Expression{tokens}.text());
  }
  if (codimensions.empty() || codimensions.back() != "*")
    throw Complaint{declared.place,
                    "the last codimension of '" + declared.name.text + "' must be [*]"};
  codimensions.pop_back();
  set_codimensions(coarray, declared.name, std::move(codimensions));
}

void declare_coarrays(Program& program, const Directive& directive, const CoarrayDirective& body) {
  if (program.facts.function_at(directive.offset) != nullptr)
    throw Complaint{directive.place, "a coarray is a variable at file scope"};
  for (const Token& name : body.names) {
    CoarraySymbol& coarray = add(program, name, directive.offset);
    if (body.on) {
      coarray.on = &require_nodes(program, *body.on, directive.offset);
      if (!coarray.has_codimensions)
        throw Complaint{name.place,
                        quoted(name) + " is not a coarray; declare it: " + name.text + ":[*]"};
      continue;
    }
    std::vector<std::string> codimensions;
    for (const Expression& one : body.codimensions) codimensions.push_back(one.text());
    set_codimensions(coarray, name, std::move(codimensions));
  }
}

void find_section_assignments(Program& program, const Unit& unit) {
  for (const Assignment& assignment : program.facts.assignments) {
    const Range whole{assignment.left.begin, assignment.right.end};
    const auto is_inside = [&](size_t offset) { return whole.contains(offset); };
    const bool has_image = std::ranges::any_of(
        unit.coindexes, [&](const Coindex& one) { return is_inside(one.whole.begin); });
    const bool has_any =
        std::ranges::any_of(unit.sections, [&](const Section& one) { return is_inside(one.open); });
    const bool is_of_directive = std::ranges::any_of(
        program.section_statements,
        [&](const Range& statement) { return statement.contains(whole.begin); });
    if (!has_any || is_of_directive) continue;
    // A section of a distributed array needs a directive.
    if (!has_image && program.array_use_in(whole) != nullptr) continue;
    SectionAssignment found{&assignment};
    found.to_image = image_of(program, assignment.left);
    found.from_image = image_of(program, assignment.right);
    found.to = variable_of(program, unit, assignment.left, found.to_image);
    found.from = variable_of(program, unit, assignment.right, found.from_image);
    if (found.from != nullptr && !has_section(*found.from)) found.from = nullptr;
    if (found.from == nullptr) found.from_image = nullptr;  // a value
    if (found.to == nullptr || (!has_section(*found.to) && found.from == nullptr)) continue;
    program.section_statements.push_back(whole);
    check_sections(program, unit, assignment.left, found.to);
    check_sections(program, unit, assignment.right, found.from);
    if (found.from != nullptr && program.variable_of(found.from->entity).innermost !=
                                     program.variable_of(found.to->entity).innermost)
      throw Complaint{unit.printed.place(assignment.sign),
                      "the sections have different types of elements"};
    program.section_assignments.push_back(found);
  }
}

void check_coindex(Program& program, const Unit& unit, const CoindexUse& use) {
  const Coindex& coindex = unit.coindexes[use.coindex];
  const CoarraySymbol& coarray = coarray_in(program, unit, coindex.local, coindex.place);
  program.coindexed[use.coindex] = &coarray;
  check_images(coarray, coindex.images.size(), coindex.place);
  if (program.facts.function_at(coindex.whole.begin) == nullptr)
    throw Complaint{coindex.place, "another image is accessed outside of a function"};
  if (use.is_bit_field)
    throw Complaint{coindex.place, "a bit-field of another image cannot be accessed alone"};
  if (use.kind == CoindexUse::kAddress)
    throw Complaint{coindex.place, "a coarray of another image has no address here"};
  // One with sections has an error already: it lacks subscripts.
  const bool has_section = std::ranges::any_of(
      unit.sections, [&](const Section& section) { return coindex.local.contains(section.open); });
  if (use.is_array && use.kind != CoindexUse::kUnevaluated && !has_section)
    throw Complaint{coindex.place, "an array of another image is no value; name its elements: '" +
                                       coarray.variable->name + "[:]:[image]'"};
}

void check_atomic(Program& program, const Unit& unit, const AtomicCall& call) {
  const Place place = unit.printed.place(call.atom.begin);
  const std::string name = call.is_define ? "xmp_atomic_define" : "xmp_atomic_ref";
  if (!call.is_lvalue || !call.has_atomic_type)
    throw Complaint{place, "the atom of '" + name + "' must be an integer variable"};
  if (!call.is_define && !call.other_is_address)
    throw Complaint{unit.printed.place(call.other.begin),
                    "the first argument of 'xmp_atomic_ref' must be the address of an integer"};
  coarray_in(program, unit, call.atom, place);
}

void check_communication(Program& program, const Directive& directive, const ImageDirective& body) {
  require_nodes(program, body.nodes, directive.offset);
}

void check_communication(Program& program, const Directive& directive, const PostDirective& body) {
  check_one_node(program, body.node, directive.offset);
  check_expression(program, body.tag, directive.offset);
}

void check_communication(Program& program, const Directive& directive, const WaitDirective& body) {
  if (body.node) check_one_node(program, *body.node, directive.offset);
  if (body.tag) check_expression(program, *body.tag, directive.offset);
}

void check_communication(Program& program, const Directive& directive, const LockDirective& body) {
  const Variable* variable = program.facts.lookup(body.name.text, directive.offset);
  const CoarraySymbol* coarray =
      variable == nullptr ? nullptr : program.coarray_of(variable->entity);
  if (coarray == nullptr || !coarray->is_lock())
    throw Complaint{body.name.place, quoted(body.name) +
                                         " is not a lock; declare it at file scope: xmp_lock_t " +
                                         body.name.text + ":[*]"};
  if (body.indexes.size() != variable->extents.size())
    throw Complaint{body.name.place,
                    other_rank(quoted(body.name), variable->extents.size(), body.indexes.size())};
  if (!body.images.empty()) check_images(*coarray, body.images.size(), body.name.place);
  for (const std::vector<Expression>* all : {&body.indexes, &body.images})
    for (const Expression& one : *all) check_expression(program, one, directive.offset);
  if (body.acquired) check_expression(program, *body.acquired, directive.offset);
  if (body.status) check_expression(program, *body.status, directive.offset);
}

}  // namespace nagaya::xmp
