// SPDX-License-Identifier: BSD-3-Clause
#include "checks/constructs.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "checks/names.h"
#include "checks/on_index.h"
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

// Returns the reference's text with `*` for each subscript for which is_star() is true: "t[i][*]".
std::string with_stars(const Reference& on, const std::function<bool(const Subscript&)>& is_star) {
  std::vector<std::string> subscripts;
  for (const Subscript& subscript : on.subscripts)
    subscripts.push_back(is_star(subscript) || !subscript.index ? "*" : subscript.index->text());
  if (!on.brackets) std::reverse(subscripts.begin(), subscripts.end());
  std::string text = on.name.text;
  for (const std::string& subscript : subscripts)
    text += on.brackets                    ? "[" + subscript + "]"
            : &subscript == &subscripts[0] ? "(" + subscript
                                           : ", " + subscript;
  return on.brackets ? text : text + ")";
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
  check_escapes(range, kNone, true);
  program_.statements[&directive] = statement;
}

const Assignment& Constructs::check_assignment(const Directive& directive) {
  check_in_function(directive);
  const size_t statement = next_statement(directive.offset);
  if (statement != kNone) {
    const Range& range = program_.facts.statements[statement].range;
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

std::vector<size_t> Constructs::tight_loops(size_t statement) const {
  const Facts& facts = program_.facts;
  std::vector<size_t> loops;
  while (facts.statements[statement].kind == Statement::kFor) {
    loops.push_back(facts.statements[statement].loop);
    size_t inner = facts.loops[loops.back()].body_statement;
    // Enters blocks that hold one statement only.
    while (facts.statements[inner].kind == Statement::kCompound) {
      size_t only = kNone;
      for (size_t i = inner + 1; i < facts.statements.size() &&
                                 facts.statements[inner].range.contains(facts.statements[i].range);
           ++i) {
        if (facts.statements[i].parent != inner) continue;
        if (only != kNone) return loops;
        only = i;
      }
      if (only == kNone) return loops;
      inner = only;
    }
    statement = inner;
  }
  return loops;
}

void Constructs::check_nesting(const Directive& directive, const LoopDirective& loop,
                               size_t statement, const std::vector<size_t>& loops) const {
  std::vector<std::string> tight, others;
  for (const size_t one : loops) tight.push_back(program_.index_name(one));
  const Range& nest = program_.facts.statements[statement].range;
  for (size_t one = 0; one < program_.facts.loops.size(); ++one) {
    const std::string index = program_.index_name(one);
    // Loops count only if their index's name does not mean another variable at the directive.
    const Variable* const meant = program_.facts.lookup(index, directive.offset);
    if (nest.contains(program_.facts.loops[one].whole) && !index.empty() &&
        (meant == nullptr || meant->entity == program_.facts.loops[one].index) &&
        std::count(tight.begin(), tight.end(), index) == 0)
      others.push_back(index);
  }
  const auto mentions_one_of = [](const std::vector<std::string>& indexes) {
    return [&](const Subscript& subscript) {
      return std::ranges::any_of(
          indexes, [&](const std::string& index) { return mentions(subscript, index); });
    };
  };
  for (const Subscript& subscript : loop.on.subscripts)
    if (mentions_one_of(others)(subscript))
      throw Complaint{
          subscript.place,
          "this loop is not tightly nested in the one behind the directive; give each a "
          "directive of its own, the outer one on " +
              with_stars(loop.on, mentions_one_of(others)) + ", the inner one on " +
              with_stars(loop.on, mentions_one_of(tight))};
}

bool Constructs::is_index_of(const std::vector<size_t>& loops, const std::string& name) const {
  return std::ranges::any_of(loops, [&](size_t i) { return program_.index_name(i) == name; });
}

void Constructs::check_canonical(const std::vector<size_t>& loops, size_t depth) const {
  for (size_t i = 0; i < depth; ++i) {
    const Loop& loop = program_.facts.loops[loops[i]];
    if (loop.problem.empty()) continue;
    const size_t at = std::max(loop.problem_offset, loop.whole.begin);
    throw Complaint{unit_.printed.place(at), "this loop cannot be distributed: " + loop.problem};
  }
}

// Finds the subscript of the on clause that has the index of loop `which`, alone or with an offset,
// and appends it to `matched`.
void Constructs::match_index(const LoopDirective& loop, const std::vector<size_t>& loops,
                             size_t which, std::vector<DistributedLoop>& matched) {
  const std::string name = program_.index_name(loops[which]);
  for (size_t d = 0; d < loop.on.subscripts.size(); ++d) {
    const Subscript& subscript = loop.on.subscripts[d];
    if (!mentions(subscript, name)) continue;
    const std::optional<std::string> offset = offset_from_index(subscript, name);
    if (!offset)
      throw Complaint{subscript.place, "the subscript of index '" + name + "' must be '" + name +
                                           "', or '" + name + "' and an offset: " + name + " + 1"};
    for (const DistributedLoop& other : matched)
      if (other.dimension == d || other.loop == loops[which])
        throw Complaint{subscript.place, "the index '" + name + "' stands twice in the on clause"};
    DistributedLoop found{loops[which], d, *offset, true};
    const ResolvedReference& on = program_.references[&loop.on];
    // In p(i) node numbers begin at 1.
    if (on.nodes != nullptr && !loop.on.brackets) found.offset = "(" + found.offset + ") - 1";
    matched.push_back(std::move(found));
  }
}

void Constructs::check_indexes(const LoopDirective& loop, const std::vector<size_t>& loops) const {
  for (size_t k = 0; k < loop.indexes.size(); ++k) {
    const Token& index = loop.indexes[k];
    for (size_t earlier = 0; earlier < k; ++earlier)
      if (loop.indexes[earlier].text == index.text)
        throw Complaint{index.place, "the index " + quoted(index) + " stands twice"};
    if (is_index_of(loops, index.text)) continue;
    check_canonical(loops, std::min(loops.size(), loop.indexes.size()));
    throw Complaint{index.place, quoted(index) +
                                     " is not the index of one of the tightly nested loops "
                                     "behind the directive"};
  }
}

std::vector<DistributedLoop> Constructs::match_indexes(const LoopDirective& loop,
                                                       const std::vector<size_t>& loops) {
  std::vector<DistributedLoop> matched;
  if (loop.indexes.empty()) {
    for (size_t i = 0; i < loops.size() && program_.facts.loops[loops[i]].problem.empty(); ++i)
      match_index(loop, loops, i, matched);
    if (matched.empty())
      throw Complaint{loop.on.name.place, "the index '" + program_.index_name(loops[0]) +
                                              "' of the loop is not in the on clause"};
    return matched;
  }
  size_t depth = 0;
  for (const Token& index : loop.indexes) {
    size_t which = 0;
    while (program_.index_name(loops[which]) != index.text) ++which;
    depth = std::max(depth, which + 1);
    const size_t before = matched.size();
    match_index(loop, loops, which, matched);
    if (matched.size() == before)
      throw Complaint{index.place, "the index " + quoted(index) + " is not in the on clause"};
  }
  check_canonical(loops, depth);
  std::ranges::sort(matched, {}, [&](const DistributedLoop& distributed) {
    return program_.facts.loops[distributed.loop].whole.begin;
  });
  return matched;
}

void Constructs::check_other_subscripts(const Directive& directive, const LoopDirective& loop,
                                        const std::vector<size_t>& loops, const Nest& nest) const {
  for (size_t d = 0; d < loop.on.subscripts.size(); ++d) {
    const Subscript& subscript = loop.on.subscripts[d];
    const DistributedLoop* const own = nest.loop_along(d);
    const std::string index = own == nullptr ? "" : program_.index_name(own->loop);
    for (const size_t other : loops) {
      const std::string name = program_.index_name(other);
      if (name == index || !mentions(subscript, name)) continue;
      check_canonical({other}, 1);
      if (!index.empty())
        throw Complaint{subscript.place, "the subscript of index '" + index +
                                             "' has another index, '" + name +
                                             "'; the on clause is computed before the loops"};
      throw Complaint{subscript.place, "'" + name +
                                           "' is the index of a loop that is not distributed; "
                                           "name it before the on clause: loop (" +
                                           name + ", ...)"};
    }
    for (const Use& use : program_.facts.uses) {
      if (!use.written || !program_.facts.statements[nest.statement].range.contains(use.name))
        continue;
      const std::string name =
          unit_.printed.text().substr(use.name.begin, use.name.end - use.name.begin);
      const Variable* variable = program_.facts.lookup(name, directive.offset);
      if (name != index && variable != nullptr && variable->entity == use.entity &&
          mentions(subscript, name))
        throw Complaint{unit_.printed.place(use.name.begin),
                        "'" + name +
                            "' is changed in the loop, but its on clause, which has it, "
                            "is computed before; copy it to another variable"};
    }
  }
}

void Constructs::check_body(const std::vector<DistributedLoop>& loops, bool may_return) const {
  for (const DistributedLoop& distributed : loops) {
    const Loop& loop = program_.facts.loops[distributed.loop];
    for (const Use& use : program_.facts.uses)
      if (use.written && use.entity == loop.index && loop.body.contains(use.name))
        throw Complaint{unit_.printed.place(use.name.begin),
                        "the index '" + program_.index_name(distributed.loop) +
                            "' of a distributed loop is changed in its body"};
    for (const Range& range : loop.computed)
      if (const Use* use = program_.array_use_in(range))
        throw Complaint{unit_.printed.place(use->name.begin),
                        "the bounds and the step of a distributed loop cannot use a distributed "
                        "array; copy the value to a variable before the loop"};
    check_escapes(loop.body, loop.whole.begin, may_return);
  }
}

// Whether the nest may change the variable through a pointer or in a called function.
bool Constructs::may_change_unseen(size_t entity, const Range& nest) const {
  const Facts& facts = program_.facts;
  for (const Use& use : facts.uses)
    if (use.entity == entity && use.address_of) return true;
  const bool has_call = std::ranges::any_of(
      facts.calls, [&](const Call& call) { return nest.contains(call.offset); });
  for (const Variable& variable : facts.variables)
    if (has_call && variable.entity == entity && (variable.file_scope || variable.is_static) &&
        !variable.constant)
      return true;
  return false;
}

void Constructs::decide_hoisting(Nest& whole) const {
  const Facts& facts = program_.facts;
  const Range nest = facts.statements[whole.statement].range;
  for (DistributedLoop& distributed : whole.loops) {
    const Loop& loop = facts.loops[distributed.loop];
    distributed.hoisted =
        loop.whole.begin == nest.begin ||
        (loop.has_scalar_bounds &&
         std::none_of(loop.bound_uses.begin(), loop.bound_uses.end(),
                      [&](size_t entity) { return may_change_unseen(entity, nest); }));
    for (const Use& use : facts.uses)
      if (use.written && nest.contains(use.name) && loop.whole.begin != nest.begin &&
          std::count(loop.bound_uses.begin(), loop.bound_uses.end(), use.entity) != 0)
        distributed.hoisted = false;
    // A variable that is declared in the nest cannot be used before it.
    for (const Variable& variable : facts.variables)
      if (nest.contains(variable.name_offset) && variable.kind == Variable::kObject &&
          std::count(loop.bound_uses.begin(), loop.bound_uses.end(), variable.entity) != 0)
        distributed.hoisted = false;
  }
}

void Constructs::check_expansion(const Directive& directive, const LoopDirective& loop,
                                 const Nest& nest) const {
  const ExpandClause& clause = *loop.expansion;
  if (clause.widths.size() != loop.on.subscripts.size())
    throw Complaint{clause.place, "this clause has " + std::to_string(clause.widths.size()) +
                                      " widths; it needs one for each of the " +
                                      std::to_string(loop.on.subscripts.size()) +
                                      " subscripts of the on clause"};
  if (clause.async) check_expression(program_, *clause.async, directive.offset);
  for (const ExpandWidth& width : clause.widths) {
    check_expression(program_, width.low, directive.offset);
    if (width.high) check_expression(program_, *width.high, directive.offset);
  }
  for (const DistributedLoop& distributed : nest.loops)
    if (!distributed.hoisted)
      throw Complaint{clause.place,
                      "this clause needs bounds that are known before the loops; those of the loop "
                      "over '" +
                          program_.index_name(distributed.loop) + "' may change in them"};
  const TemplateSymbol* along = program_.references.at(&loop.on).of_template;
  for (const DistributedLoop& distributed : nest.loops)
    if (along != nullptr && along->is_cyclic(distributed.dimension))
      throw Complaint{clause.place, "this clause is for block distributions; dimension " +
                                        std::to_string(distributed.dimension + 1) + " of '" +
                                        along->declared->name.text + "' is cyclic"};
}

void Constructs::check(const Directive& directive, const LoopDirective& loop) {
  check_in_function(directive);
  const size_t statement = next_statement(directive.offset);
  if (statement == kNone || program_.facts.statements[statement].kind != Statement::kFor)
    throw Complaint{directive.place, "expected a for loop after 'loop'"};
  const std::vector<size_t> loops = tight_loops(statement);
  check_canonical(loops, 1);
  check_nesting(directive, loop, statement, loops);
  check_indexes(loop, loops);
  // Indexes may be declared in their for statements, behind the directive.
  resolve_on_of_loop(program_, loop.on, directive.offset,
                     [&](const std::string& name) { return is_index_of(loops, name); });
  Nest nest{statement, match_indexes(loop, loops), {}};
  const auto last = std::find(loops.begin(), loops.end(), nest.loops.back().loop);
  nest.all_loops.assign(loops.begin(), last + 1);
  // With reductions no process may return from the loop: all meet behind it.
  check_body(nest.loops, loop.reductions.empty());
  check_other_subscripts(directive, loop, loops, nest);
  decide_hoisting(nest);
  if (loop.expansion) check_expansion(directive, loop, nest);
  program_.nests[&directive] = std::move(nest);
}

}  // namespace nagaya::xmp
