// SPDX-License-Identifier: BSD-3-Clause
#include "checks/check.h"

#include <algorithm>

#include "checks/coarrays.h"
#include "checks/communications.h"
#include "checks/constructs.h"
#include "checks/gmoves.h"
#include "checks/loop_dimensions.h"
#include "checks/names.h"
#include "checks/openmp.h"
#include "checks/symbols.h"

namespace nagaya::xmp {
namespace {

// A directive for which there is a function check_communication().
template <typename Body>
concept Communication = requires(Program& program, const Directive& directive, const Body& body) {
  check_communication(program, directive, body);
};

class Checker {
 public:
  Checker(Program& program, const Unit& unit, Diagnostics& diagnostics)
      : program_(program),
        unit_(unit),
        diagnostics_(diagnostics),
        symbols_(program, unit.printed.size()),
        constructs_(program, unit) {}

  void run() {
    for (const CoarrayDeclaration& declared : unit_.coarrays)
      attempt([&] { declare_coarray(program_, declared); });
    // Checks in source order, since an executable directive sees only names declared before it.
    for (const Directive& directive : program_.directives)
      if (!attempt([&] { check(directive); })) remember_failed_name(directive);
    for (const DescriptorOf& descriptor : unit_.descriptors)
      attempt([&] { check_descriptor(descriptor); });
    for (const LengthOf& length : unit_.lengths) attempt([&] { check_length(length); });
    for (const Use& use : program_.facts.uses) attempt([&] { check_use(use); });
    for (const Jump& jump : program_.facts.jumps) attempt([&] { constructs_.check_skipped(jump); });
    for (const KeptPragma& pragma : unit_.pragmas)
      if (pragma.openmp) attempt([&] { check_openmp(program_, unit_.printed, pragma); });
    attempt([&] { find_section_assignments(program_, unit_); });
    for (const CoindexUse& use : program_.facts.coindex_uses)
      attempt([&] { check_coindex(program_, unit_, use); });
    for (const AtomicCall& call : program_.facts.atomic_calls)
      attempt([&] { check_atomic(program_, unit_, call); });
    for (const Section& section : unit_.sections) attempt([&] { check_section(section); });
    attempt([&] { check_generated_names(); });
    if (diagnostics_.errors() == 0) warn_of_other_dimensions(program_, unit_, diagnostics_);
  }

 private:
  // Returns whether the work has succeeded. An error that follows from an earlier one is not
  // reported.
  template <typename Work>
  bool attempt(Work work) {
    try {
      work();
      return true;
    } catch (const Complaint& complaint) {
      if (!mentions_failed_name(complaint.text)) diagnostics_.error(complaint);
      return false;
    }
  }

  void remember_failed_name(const Directive& directive) {
    if (const auto* nodes = std::get_if<NodesDirective>(&directive.body))
      failed_names_.push_back(quoted(nodes->name));
    else if (const auto* declared = std::get_if<TemplateDirective>(&directive.body))
      failed_names_.push_back(quoted(declared->name));
    else if (const auto* distribute = std::get_if<DistributeDirective>(&directive.body))
      failed_names_.push_back(quoted(distribute->name));
    else if (const auto* align = std::get_if<AlignDirective>(&directive.body))
      failed_names_.push_back(quoted(align->array));
    else if (const auto* shadow = std::get_if<ShadowDirective>(&directive.body))
      failed_names_.push_back(quoted(shadow->array));
  }

  bool mentions_failed_name(const std::string& text) const {
    return std::ranges::any_of(failed_names_, [&](const std::string& name) {
      return text.find(name) != std::string::npos;
    });
  }

  void check(const Directive& directive) {
    std::visit([&](const auto& body) { check_body(directive, body); }, directive.body);
  }

  // Checks a declarative directive.
  void check_body(const Directive& directive, const auto& declaration) {
    if (program_.facts.function_at(directive.offset) != nullptr)
      constructs_.check_stand_alone(directive);
    symbols_.declare(directive, declaration);
  }
  void check_body(const Directive& directive, const Communication auto& communication) {
    constructs_.check_stand_alone(directive);
    check_communication(program_, directive, communication);
  }
  void check_body(const Directive& directive, const TemplateFixDirective& body) {
    constructs_.check_stand_alone(directive);
    symbols_.check(directive, body);
  }
  void check_body(const Directive& directive, const LoopDirective& body) {
    constructs_.check(directive, body);
    for (const ReductionClause& clause : body.reductions) {
      check_reduction(program_, clause, directive, body.on);
      check_order(program_, unit_, clause, directive);
    }
    check_distinct(body.reductions);
  }
  void check_body(const Directive& directive, const TaskDirective& body) {
    constructs_.check(directive, body);
  }
  void check_body(const Directive& directive, const GmoveDirective& body) {
    check_gmove(program_, unit_, directive, body, constructs_.check_assignment(directive));
  }
  void check_body(const Directive& directive, const CoarrayDirective& body) {
    declare_coarrays(program_, directive, body);
  }
  void check_body(const Directive& directive, const TasksDirective&) {
    constructs_.check_tasks(directive);
  }

  void check_section(const Section& section) const {
    for (const Range& statement : program_.section_statements)
      if (statement.contains(section.open)) return;
    if (is_behind_gmove(section.open)) return;  // which is wrong: its error is reported already
    throw Complaint{
        unit_.printed.place(section.open),
        "an array section stands alone on a side of an assignment, and of a distributed "
        "array only behind 'gmove' or 'array'; write a loop"};
  }

  bool is_behind_gmove(size_t offset) const {
    return std::ranges::any_of(unit_.directives, [&](const RawDirective& directive) {
      if (directive.tokens.empty() || directive.tokens[0].text != "gmove") return false;
      const size_t statement = program_.facts.statement_behind(directive.offset);
      return statement != kNone && program_.facts.statements[statement].range.contains(offset);
    });
  }

  // Checks that no name of the program equals one that the translation declares.
  void check_generated_names() const {
    const auto refuse_if_taken = [&](const Place& place, const std::string& name,
                                     const std::string& generated) {
      if (program_.facts.find(generated) != nullptr)
        throw Complaint{place, "choose another name than '" + name + "': its translation needs '" +
                                   generated + "', which is declared already"};
    };
    for (const NodesSymbol& nodes : program_.nodes)
      refuse_if_taken(nodes.declared->name.place, nodes.declared->name.text, nodes.c_name());
    for (const TemplateSymbol& symbol : program_.templates)
      refuse_if_taken(symbol.declared->name.place, symbol.declared->name.text, symbol.c_name());
    for (const ArraySymbol& array : program_.arrays)
      for (const std::string& name : array.c_names())
        refuse_if_taken(array.place(), array.name(), name);
    for (const CoarraySymbol& coarray : program_.coarrays)
      refuse_if_taken(coarray.name.place, coarray.variable->name, coarray.c_name());
    for (const Variable& variable : program_.facts.variables)
      if (is_generated_in_functions(variable.name) &&
          !unit_.printed.in_system_header(variable.name_offset))
        throw Complaint{unit_.printed.place(variable.name_offset),
                        "'" + variable.name + "' is a name of the translation; choose another"};
  }

  static bool is_generated_in_functions(const std::string& name) {
    if (name == "xmp_k" || name == "xmp_task" || name == "xmp_node") return true;
    for (const std::string kind :
         {"xmp_loop",  "xmp_on",    "xmp_reduced", "xmp_part", "xmp_data",   "xmp_length",
          "xmp_saved", "xmp_order", "xmp_space",   "xmp_a",    "xmp_offset", "xmp_c",
          "xmp_f",     "xmp_k",     "xmp_l",       "xmp_o",    "xmp_p",      "xmp_q",
          "xmp_r",     "xmp_t",     "xmp_v"}) {
      if (!name.starts_with(kind)) continue;
      const size_t number = kind.size() + (name[kind.size()] == '_');
      if (number < name.size() && name[number] >= '0' && name[number] <= '9') return true;
    }
    return false;
  }

  void check_descriptor(const DescriptorOf& descriptor) {
    const std::string& name = descriptor.name.text;
    std::string text;
    if (const ArraySymbol* array = program_.find_array(name, descriptor.begin))
      text = array->variable->reduction_type.empty()
                 ? "nagaya_xmp_descriptor_of_array(" + array->address() + ")"
                 : "nagaya_xmp_descriptor_of_numbers(" + array->address() + ", " +
                       array->variable->reduction_type + ")";
    else if (const NodesSymbol* nodes = program_.find_nodes(name, descriptor.begin))
      text = "nagaya_xmp_descriptor_of_nodes(" + nodes->c_name() + ")";
    else if (const TemplateSymbol* found = program_.find_template(name, descriptor.begin))
      text = "nagaya_xmp_descriptor_of_template(" + found->c_name() + ")";
    else
      throw Complaint{descriptor.name.place,
                      "'" + name + "' is neither nodes, a template nor a distributed array"};
    refuse_where_copied(descriptor);
    program_.descriptors[&descriptor] = text;
  }

  void check_length(const LengthOf& length) {
    const ArraySymbol* array = program_.find_array(length.name.text, length.begin);
    const Variable* variable = program_.facts.lookup(length.name.text, length.begin);
    if (array != nullptr && (array->is_pointer || array->home == ArraySymbol::kFormal))
      program_.lengths[&length] = "nagaya_xmp_length_of(" + array->address() + ")";
    else if (array == nullptr && variable != nullptr &&
             (variable->kind == Variable::kParameter || variable->is_pointer))
      throw Complaint{length.name.place,
                      "this section needs its length, because the array is a pointer"};
  }

  // Refuses xmp_desc_of() in expressions whose text the translation copies to other places.
  void refuse_where_copied(const DescriptorOf& descriptor) const {
    const auto refuse = [&](const std::string& where) {
      throw Complaint{descriptor.name.place, where +
                                                 " cannot use xmp_desc_of; copy the value to a "
                                                 "variable before"};
    };
    for (const auto& [directive, nest] : program_.nests)
      for (const DistributedLoop& loop : nest.loops)
        if (program_.facts.loops[loop.loop].header.contains(descriptor.begin))
          refuse("the bounds and the step of a distributed loop");
    for (const ArraySymbol& array : program_.arrays)
      for (const Extent& extent : array.variable->extents)
        if (extent.written.contains(descriptor.begin))
          refuse("the extents of '" + array.name() + "'");
  }

  void check_use(const Use& use) {
    if (use.unevaluated) return;
    const auto symbol =
        std::find_if(program_.arrays.begin(), program_.arrays.end(),
                     [&](const ArraySymbol& a) { return a.variable->entity == use.entity; });
    if (symbol == program_.arrays.end()) return;
    const Place place = unit_.printed.place(use.name.begin);
    const ArraySymbol* array = program_.array_of(use.entity, use.name.begin);
    if (array == nullptr || use.name.begin < array->declared_at)
      throw Complaint{place,
                      "'" + symbol->name() +
                          "' is used outside of the scope of its align and shadow directives"};
    check_form(use, *array, place);
    check_size(use, *array, place);
    const Function* function = program_.facts.function_at(use.name.begin);
    if (function == nullptr)
      throw Complaint{place, "the address of the distributed array '" + symbol->name() +
                                 "' is not known before the program runs"};
    const Directive* fix = program_.template_fix_of(*array, *function);
    if (fix != nullptr &&
        !program_.facts.scope_from(fix->offset, unit_.printed.size()).contains(use.name.begin))
      throw Complaint{place, "'" + symbol->name() +
                                 "' has no elements before the 'template_fix' of '" +
                                 array->with->declared->name.text + "'"};
  }

  // Refuses memset(u, 0, sizeof u): `u` is the local block there, but sizeof u the size
  // of the whole array.
  void check_size(const Use& use, const ArraySymbol& array, const Place& place) const {
    if (use.calls.empty() || !is_block(use, array)) return;
    for (const Use& other : program_.facts.uses)
      if (other.unevaluated && other.entity == use.entity && is_block(other, array) &&
          share_a_call(use, other))
        throw Complaint{place, "'" + array.name() +
                                   "' alone is the local block, but sizeof gives the size of the "
                                   "whole array; a call cannot take both"};
  }

  // Whether the use has so few subscripts that a distributed dimension is left without one.
  static bool is_block(const Use& use, const ArraySymbol& array) {
    for (size_t d = use.subscripts.size(); d < array.rank(); ++d)
      if (array.distributed(d)) return true;
    return false;
  }

  static bool share_a_call(const Use& one, const Use& other) {
    return std::any_of(one.calls.begin(), one.calls.end(), [&](size_t call) {
      return std::count(other.calls.begin(), other.calls.end(), call) != 0;
    });
  }

  static void check_form(const Use& use, const ArraySymbol& array, const Place& place) {
    if (use.reversed)
      throw Complaint{
          place, "write the name of the distributed array '" + array.name() + "' before its index"};
    if (use.as_pointer && use.subscripts.size() < array.rank() &&
        array.distributed(use.subscripts.size()))
      throw Complaint{place, "the name '" + array.name() +
                                 "' alone is the local block of the distributed array; write its "
                                 "elements with all indexes"};
  }

  Program& program_;
  const Unit& unit_;
  Diagnostics& diagnostics_;
  SymbolTable symbols_;
  Constructs constructs_;
  std::vector<std::string>
      failed_names_;  // in quotes: whose declaration, or its completion, failed
};

}  // namespace

Program check(const Unit& unit, Facts facts, std::vector<Directive> directives,
              Diagnostics& diagnostics) {
  Program program;
  program.facts = std::move(facts);
  program.directives = std::move(directives);
  Checker(program, unit, diagnostics).run();
  return program;
}

}  // namespace nagaya::xmp
