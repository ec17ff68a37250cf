// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/translate.h"

#include "rewriting/arrays.h"
#include "rewriting/c_text.h"
#include "rewriting/coarrays.h"
#include "rewriting/edits.h"
#include "rewriting/hoisted_offsets.h"
#include "rewriting/openmp.h"
#include "rewriting/statements.h"
#include "xmp_translated_text.h"

namespace nagaya::xmp {
namespace {

class Translator {
 public:
  Translator(const Unit& unit, const Program& program, const std::string& source, bool checked)
      : unit_(unit),
        program_(program),
        source_(source),
        cyclic_(unit.printed, program),
        arrays_(unit.printed, program, edits_, cyclic_, checked),
        statements_(unit, program, edits_, cyclic_),
        offsets_(unit, program),
        coarrays_(unit, program, edits_, offsets_) {}

  std::string translate() {
    // Before all directives, because one may stand at the very beginning of a function.
    arrays_.hoist_file_arrays();
    for (const Directive& directive : program_.directives) {
      std::visit([&](const auto& body) { declare(directive, body); }, directive.body);
      make_arrays(directive);
      statements_.rewrite(directive);
      coarrays_.rewrite(directive);
      if (std::holds_alternative<TemplateFixDirective>(directive.body))
        insert(directive, arrays_.hoisted_by(directive));
    }
    std::map<size_t, std::vector<std::string>> variables = statements_.variables();
    offsets_.declare(edits_, variables);
    rewrite_openmp(unit_, program_, variables, edits_);
    arrays_.rewrite_declarations();
    arrays_.rewrite_uses();
    coarrays_.rewrite_references();
    for (const auto& [descriptor, text] : program_.descriptors)
      edits_.replace({descriptor->begin, descriptor->end}, text);
    for (const auto& [length, text] : program_.lengths)
      edits_.replace({length->begin, length->end}, text);
    const PrintedText& printed = unit_.printed;
    return printed.line_marker({source_, 1, 1}) + "# 1 \"nagaya/xmp_translated.h\" 3\n" +
           kTranslatedHeader + coarrays_.descriptors() + descriptors_ +
           printed.line_marker({source_, 1, 1}) + edits_.apply(printed.text()) + registration();
  }

 private:
  void declare(const Directive&, const auto&) {}

  void insert(const Directive& directive, const std::string& text) {
    edits_.insert_line(unit_.printed, directive.offset, directive.place, text);
  }

  // Writes a variable for nodes or a template. At file scope the variable is declared where the
  // directive stands and set when the program begins; in a function both happen at the directive.
  void emit(const Directive& directive, bool file_scope, const std::string& type,
            const std::string& name, const std::string& free, const std::string& value) {
    if (file_scope) {
      insert(directive, "static " + type + " *" + name + " __attribute__((unused));");
      unit_declarations_ += "  " + name + " = " + value + ";\n";
    } else {
      insert(directive,
             type + " *" + name + " __attribute__((cleanup(" + free + "))) = " + value + ";");
    }
  }

  void declare(const Directive& directive, const NodesDirective& nodes) {
    std::vector<std::string> extents;
    for (const NodesExtent& extent : nodes.extents)
      extents.push_back(extent.value ? extent.value->text() : "-1");
    const NodesSymbol* symbol = program_.find_nodes(nodes.name.text, directive.offset);
    const bool executing = nodes.of && nodes.of->executing;
    emit(directive, symbol->file_scope, "nagaya_xmp_nodes", symbol->c_name(),
         "nagaya_xmp_free_nodes",
         call("nagaya_xmp_declare_nodes", nodes.name.place,
              {literal(nodes.name.text), nodes.brackets ? "1" : "0", std::to_string(extents.size()),
               array_of("long", extents), optional_on_pointer(program_, nodes.of),
               executing ? "1" : "0"}));
  }

  void declare(const Directive& directive, const TemplateDirective& declared) {
    const auto ends = [&](Bound TemplateBounds::*end) {
      return declared.deferred ? "0" : bounds_array(declared.bounds, end);
    };
    const TemplateSymbol* symbol = program_.find_template(declared.name.text, directive.offset);
    emit(directive, symbol->file_scope, "nagaya_xmp_template", symbol->c_name(),
         "nagaya_xmp_free_template",
         call("nagaya_xmp_declare_template", declared.name.place,
              {literal(declared.name.text), std::to_string(declared.dimensions),
               ends(&TemplateBounds::low), ends(&TemplateBounds::high)}));
  }

  void declare(const Directive& directive, const DistributeDirective& distribute) {
    const TemplateSymbol* symbol = program_.find_template(distribute.name.text, directive.offset);
    const std::string text = call_statement(
        "nagaya_xmp_distribute", distribute.name.place,
        {symbol->c_name(), symbol->onto->c_name(), distribution_array(distribute.formats)});
    if (symbol->file_scope)
      unit_declarations_ += "  " + text + "\n";
    else
      insert(directive, text);
  }

  // Writes the declarations of each array whose last directive, align or shadow, this one is.
  void make_arrays(const Directive& directive) {
    for (const ArraySymbol& array : program_.arrays) {
      const auto* align = std::get_if<AlignDirective>(&directive.body);
      const auto* shadow = std::get_if<ShadowDirective>(&directive.body);
      if (array.shadow != nullptr ? array.shadow != shadow
                                  : align == nullptr || array.align != align)
        continue;
      std::string text = descriptor_declaration(array);
      if (array.home == ArraySymbol::kLocal) text += " " + declare_array_call(array);
      if (array.home == ArraySymbol::kFile)
        unit_declarations_ += "  " + declare_array_call(array) + "\n";
      else
        text += " " + hoisted_unless_fixed_later(array);
      if (array.home == ArraySymbol::kFile &&
          program_.facts.function_at(directive.offset) != nullptr)
        descriptors_ += text + "\n";
      else
        insert(directive, text);
    }
  }

  std::string hoisted_unless_fixed_later(const ArraySymbol& array) const {
    const Function* function = program_.facts.function_at(array.declared_at);
    const bool is_later = program_.template_fix_of(array, *function) != nullptr ||
                          program_.may_be_fixed_elsewhere(array, *function);
    return is_later ? "" : hoisted(array);
  }

  // Returns the unit's constructors. By their priorities all units register before the first one
  // calls nagaya_xmp_begin().
  std::string registration() const {
    return "# 1 \"nagaya/xmp_translated.h\" 3\n"
           "static void xmp_declare_unit(void) {\n" +
           unit_declarations_ + coarrays_.registration() +
           "}\n"
           "__attribute__((constructor(1000))) static void xmp_register_unit(void) {\n"
           "  nagaya_xmp_unit(xmp_declare_unit);\n"
           "}\n"
           "__attribute__((constructor)) static void xmp_begin(void) { nagaya_xmp_begin(); }\n";
  }

  const Unit& unit_;
  const Program& program_;
  const std::string& source_;
  Edits edits_;
  CyclicLoops cyclic_;
  ArrayRewriter arrays_;
  StatementRewriter statements_;
  HoistedOffsets offsets_;
  CoarrayRewriter coarrays_;
  std::string unit_declarations_;
  std::string descriptors_;  // of the file's arrays that are aligned in a function
};

}  // namespace

std::string translate(const Unit& unit, const Program& program, const std::string& source,
                      bool checked) {
  return Translator(unit, program, source, checked).translate();
}

}  // namespace nagaya::xmp
