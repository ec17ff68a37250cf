// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/statements.h"

#include <algorithm>
#include <cctype>

#include "checks/names.h"
#include "rewriting/c_text.h"
#include "rewriting/data.h"
#include "rewriting/expansions.h"
#include "rewriting/gmoves.h"
#include "rewriting/reductions.h"

namespace nagaya::xmp {

void StatementRewriter::rewrite(const Directive& directive) {
  std::visit([&](const auto& body) { rewrite(directive, body); }, directive.body);
}

void StatementRewriter::insert(const Directive& directive, const std::string& text) {
  edits_.insert_line(unit_.printed, directive.offset, directive.place, text);
}

void StatementRewriter::rewrite(const Directive& directive, const TemplateFixDirective& fix) {
  const auto ends = [&](Bound TemplateBounds::*end) {
    return fix.fixed.bounds.empty() ? "0" : bounds_array(fix.fixed.bounds, end);
  };
  const TemplateSymbol* fixed = program_.find_template(fix.fixed.name.text, directive.offset);
  insert(directive, call_statement("nagaya_xmp_fix_template", directive.place,
                                   {fixed->c_name(), ends(&TemplateBounds::low),
                                    ends(&TemplateBounds::high), distribution_array(fix.formats)}));
}

void StatementRewriter::rewrite_shadows(const Directive& directive, const ReflectDirective& shadows,
                                        const std::string& function, bool with_type) {
  std::vector<std::string> widths;
  for (const ReflectWidth& width : shadows.widths)
    widths.push_back(braces({width.low.text(), (width.high ? *width.high : width.low).text(),
                             width.periodic ? "1" : "0"}));
  std::string text = "{";
  for (const Token& name : shadows.arrays) {
    const ArraySymbol& array = *program_.find_array(name.text, directive.offset);
    std::vector<std::string> arguments = {array.address()};
    if (with_type) arguments.push_back(array.variable->reduction_type);
    arguments.insert(arguments.end(),
                     {widths.empty() ? "0" : array_of("nagaya_xmp_width", widths),
                      shadows.orthogonal ? "1" : "0", optional_async(shadows.async)});
    text += " " + call_statement(function, directive.place, arguments);
  }
  insert(directive, text + " }");
}

void StatementRewriter::rewrite(const Directive& directive, const ReflectDirective& reflect) {
  rewrite_shadows(directive, reflect, "nagaya_xmp_reflect", false);
}

void StatementRewriter::rewrite(const Directive& directive, const ReduceShadowDirective& reduce) {
  rewrite_shadows(directive, reduce.shadows, "nagaya_xmp_reduce_shadow", true);
}

void StatementRewriter::rewrite(const Directive& directive, const WaitAsyncDirective& wait) {
  std::vector<std::string> numbers;
  for (const Expression& number : wait.numbers) numbers.push_back(number.text());
  insert(directive, call_statement("nagaya_xmp_wait_async", directive.place,
                                   {std::to_string(numbers.size()), array_of("long", numbers),
                                    optional_on_pointer(program_, wait.on)}));
}

void StatementRewriter::rewrite(const Directive& directive, const BarrierDirective& barrier) {
  insert(directive, call_statement("nagaya_xmp_barrier", directive.place,
                                   {optional_on_pointer(program_, barrier.on)}));
}

void StatementRewriter::rewrite(const Directive& directive, const BcastDirective& bcast) {
  std::string text = "{";
  for (const DataReference& variable : bcast.variables) {
    const Data data = data_of(program_, variable, directive.offset);
    text += " " +
            call_statement("nagaya_xmp_bcast", directive.place,
                           {data.address, data.bytes(), optional_on_pointer(program_, bcast.from),
                            optional_on_pointer(program_, bcast.on), optional_async(bcast.async)});
  }
  insert(directive, text + " }");
}

void StatementRewriter::rewrite(const Directive& directive, const ReductionDirective& reduction) {
  insert(directive,
         "{" +
             reduce_calls(program_, reduction.reduction, directive.offset,
                          data_of_clause(program_, reduction.reduction, directive.offset),
                          optional_on_pointer(program_, reduction.on),
                          optional_async(reduction.async)) +
             " }");
}

void StatementRewriter::rewrite(const Directive& directive, const TaskDirective& task) {
  const Range& block = program_.facts.statements[program_.statements.at(&directive)].range;
  insert(directive, "{ if (" +
                        call("nagaya_xmp_enter_task", directive.place,
                             {task.on.executing ? "0" : on_pointer(program_, task.on),
                              task.nocomm ? "1" : "0"}) +
                        ") { int xmp_task __attribute__((cleanup(nagaya_xmp_leave_task))) = 1;");
  edits_.close(block.end, directive.offset, " } }");
}

void StatementRewriter::rewrite(const Directive& directive, const GmoveDirective& gmove) {
  rewrite_gmove(program_, directive, gmove, edits_);
}

namespace {

// The function of the runtime that returns the caller's part of a loop, the type of this part, and
// the ending of the variable's name.
struct LoopPart {
  const char *function, *type, *ending;
};

LoopPart loop_part(bool is_expanded, bool is_cyclic) {
  if (is_expanded) return {"nagaya_xmp_expand", "nagaya_xmp_expanded", "_expanded"};
  if (is_cyclic) return {"nagaya_xmp_cyclic_loop", "nagaya_xmp_rounds", "_rounds"};
  return {"nagaya_xmp_loop", "nagaya_xmp_range", "_range"};
}

}  // namespace

std::string StatementRewriter::range_declaration(const Directive& directive,
                                                 const DistributedLoop& distributed,
                                                 const std::string& on, const std::string& needed,
                                                 const std::string& name,
                                                 const ExpandWidth* expansion, bool is_cyclic) {
  const Loop& header = program_.facts.loops[distributed.loop];
  std::string end = header.end_text;
  if (header.inclusive) end += header.upwards ? " + 1L" : " - 1L";
  const std::string from = name + "_from", step = name + "_step";
  const bool has_step = header.has_computed_step();
  std::vector<std::string> arguments = {
      "&" + on, std::to_string(distributed.dimension), name + "_offset", from,
      end,      has_step ? step : header.step};
  if (expansion != nullptr) arguments.push_back(expansion_pointer(*expansion));
  const LoopPart part = loop_part(expansion != nullptr, is_cyclic);
  const std::string variable = name + part.ending, type = part.type;
  const std::string own_part = call(part.function, directive.place, arguments);
  // A variable for the first value, because C computes it before the bound, but the arguments of a
  // call in any order.
  const std::string declared =
      "const " + header.index_type + " " + from + " = " + header.first_text + "; " +
      (has_step ? "const long " + step + " = " + header.step + "; " : "") +
      (is_cyclic ? "" : "const ") + type + " " + variable + " = " +
      (needed.empty() ? own_part : needed + " ? " + own_part + " : (" + type + "){0}") + ";";
  if (is_cyclic) return declared + constant_width(directive, distributed, variable);
  if (expansion != nullptr) return declared;
  return declared + " const " + header.index_type + " " + name + "_first = " + variable +
         ".first, " + name + "_end = " + variable + ".end;";
}

std::string StatementRewriter::constant_width(const Directive& directive,
                                              const DistributedLoop& distributed,
                                              const std::string& rounds) const {
  const LoopDirective& loop = std::get<LoopDirective>(directive.body);
  const TemplateSymbol& of = *program_.references.at(&loop.on).of_template;
  const std::optional<Expression>& width = of.distribution->formats[distributed.dimension].width;
  if (of.is_fixed_later() || !width) return "";
  const auto declared = std::ranges::find_if(program_.directives, [&](const Directive& one) {
    return std::get_if<DistributeDirective>(&one.body) == of.distribution;
  });
  const std::optional<long> value = constant_of(program_, *width, declared->offset);
  return value ? " " + rounds + ".width = " + std::to_string(*value) + ";" : "";
}

void StatementRewriter::rewrite_header(size_t which, const std::string& name) {
  const Loop& loop = program_.facts.loops[which];
  // Replaces the first value, the condition, and a step that is no constant; the rest stays as the
  // user wrote it.
  edits_.replace(loop.first, name + "_first");
  if (loop.has_computed_step())
    edits_.replace(loop.stepping,
                   program_.index_name(which) + " += (" + loop.index_type + ")" + name + "_step");
  const size_t first_semicolon = unit_.printed.text().find(';', loop.first.end);
  const size_t second_semicolon =
      unit_.printed.text().find(';', std::max(loop.end.end, first_semicolon + 1));
  edits_.replace({first_semicolon + 1, second_semicolon},
                 " " + program_.index_name(which) + (loop.upwards ? " < " : " > ") + name + "_end");
}

std::string StatementRewriter::add_reductions(const Directive& directive, const LoopDirective& loop,
                                              const Nest& nest, const std::string& on,
                                              std::string& before) {
  if (loop.reductions.empty()) return "";
  std::vector<LoopReduction> reductions;
  for (const ReductionClause& clause : loop.reductions)
    reductions.emplace_back(program_, clause, reductions.size(), directive.offset, nest);
  const auto of_all = [&](auto part) {
    std::string text;
    for (const LoopReduction& reduction : reductions) text += part(reduction);
    return text;
  };
  const std::string reduced = "xmp_reduced" + std::to_string(ons_);
  before += " const nagaya_xmp_on " + reduced + " = " +
            reduction_on_value(program_, loop.on, nest, on) + ";" +
            of_all([](const LoopReduction& r) { return r.pointer_declarations(); }) +
            of_all([](const LoopReduction& r) { return r.declarations(); }) + " {" +
            of_all([](const LoopReduction& r) { return r.hiding_declarations(); });
  for (const LoopReduction& reduction : reductions)
    for (const std::string& variable : reduction.record_iterations(edits_))
      variables_[nest.statement].push_back(variable);
  return of_all([](const LoopReduction& r) { return r.saving_assignments(); }) + " }" +
         of_all([&](const LoopReduction& r) { return r.reduction_calls("&" + reduced); });
}

void StatementRewriter::rewrite(const Directive& directive, const LoopDirective& loop) {
  const Nest& nest = program_.nests.at(&directive);
  const Range& whole = program_.facts.statements[nest.statement].range;
  const std::string on = "xmp_on" + std::to_string(++ons_);
  std::string before =
      "{ const nagaya_xmp_on " + on + " = " + loop_on_value(program_, loop.on, nest) + ";";
  std::string needed;  // C text: none of the outer loops is empty
  std::vector<ExpandedLoop> expanded;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const Loop& header = program_.facts.loops[nest.loops[i].loop];
    const std::string name = "xmp_loop" + std::to_string(++ranges_);
    const bool hoisted = nest.loops[i].hoisted, cyclic = cyclic_.is_cyclic(loop.on, nest.loops[i]);
    before += " const long " + name + "_offset = " + nest.loops[i].offset + ";";
    const std::string declaration = range_declaration(
        directive, nest.loops[i], on, hoisted ? needed : "", name,
        loop.expansion ? &loop.expansion->widths[nest.loops[i].dimension] : nullptr, cyclic);
    if (loop.expansion) expanded.push_back({header.index_type, name});
    size_t statement = nest.statement;
    if (hoisted) {
      before += " " + declaration;
      needed += (needed.empty() ? "" : " && ") +
                (loop.expansion ? name + "_expanded.own_count != 0"
                 : cyclic       ? name + "_rounds.first != " + name + "_rounds.end"
                                : name + "_first != " + name + "_end");
    } else {
      statement = program_.facts.statement_behind(header.whole.begin);
      edits_.insert_line(unit_.printed, before_loop_pragmas(unit_, header.whole.begin),
                         directive.place, "{ " + declaration);
      edits_.close(header.whole.end, header.whole.begin, " }");
      for (const std::string& used : {on, name + "_offset"})
        variables_[nest.statement].push_back(used);
    }
    if (header.has_computed_step()) variables_[statement].push_back(name + "_step");
    if (cyclic) {
      variables_[statement].push_back(name + "_rounds");
      cyclic_.rewrite(loop.on, nest.loops[i], name, edits_);
    } else {
      for (const char* bound : {"_first", "_end"}) variables_[statement].push_back(name + bound);
      rewrite_header(nest.loops[i].loop, name);
    }
  }
  std::string after = add_reductions(directive, loop, nest, on, before);
  if (loop.expansion) {
    before += loop_over_parts(directive, *loop.expansion, expanded, ++spaces_);
    after = " }" + after;
  }
  edits_.insert_line(unit_.printed, before_loop_pragmas(unit_, directive.offset), directive.place,
                     before);
  edits_.close(whole.end, directive.offset, after + " }");
}

}  // namespace nagaya::xmp
