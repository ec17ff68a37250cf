// SPDX-License-Identifier: BSD-3-Clause
#include "checks/symbols.h"

#include <algorithm>

#include "checks/names.h"
#include "diagnostics.h"

namespace nagaya::xmp {
void SymbolTable::require_new_name(const Token& name, size_t offset) {
  const size_t block = program_.facts.block_at(offset);
  const auto here = [&](const auto* symbol) {
    return symbol != nullptr && program_.facts.block_at(symbol->offset) == block;
  };
  if (here(program_.find_nodes(name.text, offset)) ||
      here(program_.find_template(name.text, offset)))
    throw Complaint{name.place, quoted(name) + " is declared twice in this scope"};
  const Variable* variable = program_.facts.lookup(name.text, offset);
  if (variable != nullptr && program_.facts.block_at(variable->name_offset) == block)
    throw Complaint{name.place, quoted(name) +
                                    " is the name of a variable or function of this "
                                    "scope; choose another"};
}

void SymbolTable::declare(const Directive& directive, const NodesDirective& nodes) {
  require_new_name(nodes.name, directive.offset);
  require_dimensions(nodes.name, nodes.extents.size());
  for (size_t d = 0; d < nodes.extents.size(); ++d) {
    const NodesExtent& extent = nodes.extents[d];
    if (!extent.value && d != 0)
      throw Complaint{extent.place, nodes.brackets ? "only the first dimension of nodes may be '*'"
                                                   : "only the last dimension of nodes may be '*'"};
    if (!extent.value) continue;
    check_expression(program_, *extent.value, directive.offset);
    const std::optional<long> value = constant_of(program_, *extent.value, directive.offset);
    if (value && *value < 1)
      throw Complaint{extent.place,
                      "the extent " + std::to_string(*value) + " of nodes is not positive"};
  }
  if (nodes.of) {
    resolve(program_, *nodes.of, directive.offset);
    const ResolvedReference& of = program_.references[&*nodes.of];
    if (of.of_template != nullptr)
      throw Complaint{
          nodes.of->name.place,
          "nodes are declared from nodes, not from the template " + quoted(nodes.of->name)};
    // `= q(:, *)`, the row of each process, violates the specification's text. It is accepted
    // because programs use it (NPB-CG of the Omni compiler) and its meaning is clear.
  }
  program_.nodes.push_back({&nodes, directive.offset,
                            program_.facts.scope_from(directive.offset, text_size_),
                            !in_function(directive.offset)});
}

void SymbolTable::declare(const Directive& directive, const TemplateDirective& declared) {
  require_new_name(declared.name, directive.offset);
  require_dimensions(declared.name, declared.dimensions);
  for (const TemplateBounds& bounds : declared.bounds) {
    check_bound(program_, bounds.low, directive.offset);
    check_bound(program_, bounds.high, directive.offset);
  }
  program_.templates.push_back({&declared, directive.offset,
                                program_.facts.scope_from(directive.offset, text_size_),
                                !in_function(directive.offset)});
}

// Checks that gblock names an array of int or long, or a pointer to such numbers.
void SymbolTable::check_sizes(const Expression& sizes, size_t offset) {
  check_expression(program_, sizes, offset);
  const Variable* variable =
      sizes.tokens.size() == 1 ? program_.facts.lookup(sizes.tokens.front().text, offset) : nullptr;
  const bool is_list =
      variable != nullptr && variable->extents.size() == (variable->is_pointer ? 0u : 1u);
  if (!is_list || (variable->reduction_type != "NAGAYA_XMP_INT" &&
                   variable->reduction_type != "NAGAYA_XMP_LONG"))
    throw Complaint{sizes.place(),
                    "gblock needs the name of an array of int or long, one size for each node"};
}

void SymbolTable::check_formats(const std::vector<DistributionFormat>& formats,
                                const TemplateSymbol& of, const Place& place, size_t offset) {
  if (formats.size() != of.dimensions())
    throw Complaint{place, other_rank("the template " + quoted(of.declared->name), of.dimensions(),
                                      formats.size())};
  for (const DistributionFormat& format : formats) {
    if (format.sizes) check_sizes(*format.sizes, offset);
    if (!format.width) continue;
    check_expression(program_, *format.width, offset);
    const std::optional<long> width = constant_of(program_, *format.width, offset);
    if (width && *width < 1)
      throw Complaint{format.width->place(), "the width of a block must be positive"};
  }
}

void SymbolTable::declare(const Directive& directive, const DistributeDirective& distribute) {
  // require_template() returns a const reference; the loop below finds the symbol to change.
  const TemplateSymbol& found = require_template(program_, distribute.name, directive.offset);
  if (found.distribution != nullptr)
    throw Complaint{distribute.name.place,
                    "the template " + quoted(distribute.name) + " is distributed twice"};
  if (program_.facts.block_at(found.offset) != program_.facts.block_at(directive.offset))
    throw Complaint{distribute.name.place,
                    "the template " + quoted(distribute.name) +
                        " must be distributed in the scope of its declaration"};
  const NodesSymbol& onto = require_nodes(program_, distribute.onto, directive.offset);
  check_formats(distribute.formats, found, distribute.name.place, directive.offset);
  size_t blocks = 0;
  for (const DistributionFormat& format : distribute.formats)
    blocks += format.kind != DistributionFormat::kStar;
  if (blocks != onto.dimensions())
    throw Complaint{distribute.onto.place,
                    std::to_string(blocks) + " dimension" + (blocks == 1 ? "" : "s") +
                        " of the template are distributed onto " + quoted(distribute.onto) +
                        ", which has " + std::to_string(onto.dimensions())};
  for (TemplateSymbol& symbol : program_.templates) {
    if (&symbol != &found) continue;
    symbol.distribution = &distribute;
    symbol.onto = &onto;
  }
}

void SymbolTable::check(const Directive& directive, const TemplateFixDirective& fix) {
  const Token& name = fix.fixed.name;
  const TemplateSymbol& found = require_template(program_, name, directive.offset);
  if (!found.declared->deferred && (!found.lacks_sizes() || !fix.fixed.bounds.empty()))
    throw Complaint{name.place, "the template " + quoted(name) +
                                    " has its bounds already; declare it with ':'"};
  if (found.declared->deferred && fix.fixed.bounds.empty())
    throw Complaint{name.place, "'template_fix' needs the bounds of " + quoted(name)};
  if (found.lacks_sizes() && fix.formats.empty())
    throw Complaint{name.place, "'template_fix' needs the sizes of the blocks of " + quoted(name) +
                                    ": its distribution is gblock(*)"};
  if (!fix.fixed.bounds.empty() && fix.fixed.dimensions != found.dimensions())
    throw Complaint{name.place, other_rank("the template " + quoted(name), found.dimensions(),
                                           fix.fixed.dimensions)};
  for (const TemplateBounds& bounds : fix.fixed.bounds) {
    check_bound(program_, bounds.low, directive.offset);
    check_bound(program_, bounds.high, directive.offset);
  }
  if (fix.formats.empty()) return;
  check_formats(fix.formats, found, name.place, directive.offset);
  if (found.distribution == nullptr) return;
  for (size_t d = 0; d < fix.formats.size(); ++d) {
    const DistributionFormat &now = fix.formats[d], &declared = found.distribution->formats[d];
    // The translation of loops depends on whether a cyclic distribution has a width.
    const bool is_same =
        now.kind == declared.kind && (now.kind != DistributionFormat::kCyclic ||
                                      now.width.has_value() == declared.width.has_value());
    if (!is_same)
      throw Complaint{now.place,
                      "this is not the distribution that " + quoted(name) + " was declared with"};
    if (now.kind == DistributionFormat::kGblock && !now.sizes)
      throw Complaint{now.place, "'template_fix' needs the sizes of the blocks"};
  }
}

}  // namespace nagaya::xmp
