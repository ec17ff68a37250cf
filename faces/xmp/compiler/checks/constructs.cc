// SPDX-License-Identifier: BSD-3-Clause
#include "checks/constructs.h"

#include <algorithm>
#include <cctype>

#include "checks/names.h"
#include "diagnostics.h"

namespace nagaya::xmp {
namespace {

template <typename... Bodies>
bool is_one_of(const Directive& directive) {
  return (std::holds_alternative<Bodies>(directive.body) || ...);
}

// Whether the rest of the block needs the directive: it declares names or makes arrays' elements.
bool is_declaration(const Directive& directive) {
  return is_one_of<NodesDirective, TemplateDirective, DistributeDirective, AlignDirective,
                   ShadowDirective, TemplateFixDirective>(directive);
}

}  // namespace

// Whether the text between the offsets is white space, line markers and pragmas only. A `#` reaches
// to the end of its line.
bool Constructs::only_pragmas_between(size_t begin, size_t end) const {
  const std::string& text = unit_.printed.text();
  for (size_t at = begin; at < end; ++at) {
    if (text[at] == '#') {
      at = text.find('\n', at);
      if (at == std::string::npos) return false;
    } else if (std::isspace(static_cast<unsigned char>(text[at])) == 0) {
      return false;
    }
  }
  return true;
}

size_t Constructs::next_statement(size_t offset) const {
  const size_t found = program_.facts.statement_behind(offset);
  if (found == kNone) return kNone;
  return only_pragmas_between(offset, program_.facts.statements[found].range.begin) ? found : kNone;
}

void Constructs::check_between(const Directive& directive, size_t statement) const {
  const bool is_task = std::holds_alternative<TaskDirective>(directive.body);
  bool is_behind = false;
  for (const Directive& other : program_.directives) {
    // In the order of the source; directives in a row have one offset.
    if (is_behind && other.offset <= statement && (!is_task || is_declaration(other)))
      throw Complaint{other.place, "'" + other.name + "' cannot stand between '" + directive.name +
                                       "' and its statement"};
    is_behind = is_behind || &other == &directive;
  }
}

void Constructs::check_in_function(const Directive& directive) const {
  if (program_.facts.function_at(directive.offset) == nullptr)
    throw Complaint{directive.place,
                    "the directive '" + directive.name + "' must stand in a function"};
}

void Constructs::check_stand_alone(const Directive& directive) {
  check_in_function(directive);
  const Facts& facts = program_.facts;
  const size_t at = facts.statement_at(directive.offset);
  if (at == kNone || facts.statements[at].kind == Statement::kCompound) return;
  // In `label: <directive> statement` the directive stands between statements, too.
  const size_t next = next_statement(directive.offset);
  if (facts.statements[at].kind == Statement::kLabel && next != kNone &&
      facts.statements[next].parent == at)
    return;
  throw Complaint{directive.place, "the directive '" + directive.name +
                                       "' cannot be the body of an if or a loop; put it in braces"};
}

void Constructs::check_escapes(const Range& range, size_t loop_begin, bool may_return) const {
  const std::string construct = loop_begin == kNone ? "block of the 'task'" : "distributed loop";
  for (const Jump& jump : program_.facts.jumps) {
    const bool is_case = jump.kind == Jump::kCase, has_label = is_case || jump.kind == Jump::kGoto;
    if (has_label && range.contains(jump.target) && !range.contains(jump.offset))
      throw Complaint{unit_.printed.place(is_case ? jump.target : jump.offset),
                      std::string(is_case ? "'switch'" : "'goto'") + " jumps into the " +
                          construct + "; it must be entered where it begins"};
    if (is_case || !range.contains(jump.offset)) continue;
    bool leaves = jump.target < range.begin;
    if (jump.kind == Jump::kGoto) leaves = !range.contains(jump.target);
    if (jump.kind == Jump::kContinue && jump.target == loop_begin) leaves = false;
    if (jump.kind == Jump::kReturn) leaves = !may_return;
    static const char* const kWords[] = {"break", "continue", "goto", "return"};
    if (leaves)
      throw Complaint{unit_.printed.place(jump.offset), "'" + std::string(kWords[jump.kind]) +
                                                            "' leaves the " + construct +
                                                            "; other processes would not"};
  }
}

void Constructs::check_skipped(const Jump& jump) const {
  if (jump.kind != Jump::kGoto && jump.kind != Jump::kCase) return;
  for (const Directive& directive : program_.directives) {
    if (!is_declaration(directive) || program_.facts.function_at(directive.offset) == nullptr)
      continue;
    const Range rest = program_.facts.scope_from(directive.offset, unit_.printed.size());
    if (rest.contains(jump.target) && !rest.contains(jump.offset))
      throw Complaint{unit_.printed.place(jump.kind == Jump::kCase ? jump.target : jump.offset),
                      "this jump skips the directive of line " +
                          std::to_string(directive.place.line) +
                          " but not its scope; put the directive before the jump, or in a block"};
  }
}

void Constructs::check(const Directive& directive, const TaskDirective& task) {
  check_in_function(directive);
  resolve(program_, task.on, directive.offset);
  const size_t statement = next_statement(directive.offset);
  if (statement == kNone) throw Complaint{directive.place, "expected a statement after 'task'"};
  const Range& range = program_.facts.statements[statement].range;
  check_between(directive, range.begin);
  check_escapes(range, kNone, true);
  program_.statements[&directive] = statement;
}

const Assignment& Constructs::check_assignment(const Directive& directive) {
  check_in_function(directive);
  const size_t statement = next_statement(directive.offset);
  if (statement != kNone) {
    const Range& range = program_.facts.statements[statement].range;
    check_between(directive, range.begin);
    for (const Assignment& assignment : program_.facts.assignments) {
      if (assignment.left.begin != range.begin || !range.contains(assignment.right)) continue;
      program_.section_statements.push_back(range);
      return assignment;
    }
  }
  throw Complaint{directive.place, "expected an assignment after '" + directive.name + "'"};
}

void Constructs::check_tasks(const Directive& directive) {
  const Facts& facts = program_.facts;
  const size_t block = next_statement(directive.offset);
  if (block == kNone || facts.statements[block].kind != Statement::kCompound)
    throw Complaint{directive.place, "expected a block of 'task' directives after 'tasks'"};
  std::vector<size_t> tasks;
  for (const Directive& other : program_.directives)
    if (std::holds_alternative<TaskDirective>(other.body) && facts.block_at(other.offset) == block)
      tasks.push_back(next_statement(other.offset));
  for (size_t i = block + 1; i < facts.statements.size(); ++i)
    if (facts.statements[i].parent == block && std::count(tasks.begin(), tasks.end(), i) == 0)
      throw Complaint{unit_.printed.place(facts.statements[i].range.begin),
                      "only 'task' directives and their statements stand in the block of 'tasks'"};
}

}  // namespace nagaya::xmp
