// SPDX-License-Identifier: BSD-3-Clause
// symbols.h - checks declarative directives and enters their names in the program.
#pragma once

#include "checks/program.h"

namespace nagaya::xmp {

// The caller makes one call for each directive, in the order of the source. All calls may throw
// Complaint.
class SymbolTable {
 public:
  SymbolTable(Program& program, size_t text_size) : program_(program), text_size_(text_size) {}

  void declare(const Directive& directive, const NodesDirective& nodes);
  void declare(const Directive& directive, const TemplateDirective& declared);
  void declare(const Directive& directive, const DistributeDirective& distribute);
  void declare(const Directive& directive, const AlignDirective& align);
  void declare(const Directive& directive, const ShadowDirective& shadow);
  void check(const Directive& directive, const TemplateFixDirective& fix);

 private:
  void require_new_name(const Token& name, size_t offset);
  void check_sizes(const Expression& sizes, size_t offset);
  void check_formats(const std::vector<DistributionFormat>& formats, const TemplateSymbol& of,
                     const Place& place, size_t offset);
  const Variable& pointer_variable(const Variable& pointer);
  const Variable& aligned_variable(const AlignDirective& align, size_t offset);
  void match_subscripts(const Directive& directive, const AlignDirective& align,
                        ArraySymbol& array);
  void require_known_at_start(const ArraySymbol& array, const Expression& expression,
                              size_t offset) const;
  void set_shadow(ArraySymbol& array, const ShadowDirective& shadow, size_t offset);
  bool in_function(size_t offset) const { return program_.facts.function_at(offset) != nullptr; }

  Program& program_;
  size_t text_size_;
};

}  // namespace nagaya::xmp
