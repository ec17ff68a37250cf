// SPDX-License-Identifier: BSD-3-Clause
// loop_constructs.cc - checks of the directive loop and of the loops behind it.
#include <algorithm>
#include <functional>

#include "checks/constructs.h"
#include "checks/names.h"
#include "checks/on_index.h"
#include "diagnostics.h"

namespace nagaya::xmp {
namespace {

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
  check_between(directive, program_.facts.statements[statement].range.begin);
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
