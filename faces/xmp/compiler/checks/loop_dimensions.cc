// SPDX-License-Identifier: BSD-3-Clause
#include "checks/loop_dimensions.h"

#include <algorithm>
#include <cctype>

namespace nagaya::xmp {
namespace {

class DimensionsOfLoop {
 public:
  DimensionsOfLoop(const Program& program, const Unit& unit, const Reference& on, const Nest& nest,
                   Diagnostics& diagnostics)
      : program_(program), unit_(unit), on_(on), nest_(nest), diagnostics_(diagnostics) {}

  void check() const {
    const TemplateSymbol* const of = program_.references.at(&on_).of_template;
    if (of == nullptr) return;
    for (const Use& use : program_.facts.uses) {
      if (use.unevaluated || !is_in_nest(use.name)) continue;
      const ArraySymbol* const array = program_.array_of(use.entity, use.name.begin);
      if (array == nullptr || array->with != of) continue;
      for (size_t d = 0; d < std::min(use.subscripts.size(), array->rank()); ++d)
        check(use, *array, d);
    }
  }

 private:
  bool is_in_nest(const Range& range) const {
    return program_.facts.statements[nest_.statement].range.contains(range);
  }

  void check(const Use& use, const ArraySymbol& array, size_t d) const {
    const int aligned = array.alignment[d].dimension;
    if (aligned < 0 || !array.with->is_distributed(static_cast<size_t>(aligned)) ||
        array.alignment[d].has_full_shadow)
      return;
    const Range subscript{use.subscripts[d].open + 1, use.subscripts[d].close};
    const DistributedLoop* const loop = loop_of(subscript);
    if (loop == nullptr || loop->dimension == static_cast<size_t>(aligned)) return;
    diagnostics_.warning(unit_.printed.place(subscript.begin),
                         "index '" + program_.index_name(loop->loop) + "' runs along dimension " +
                             number_of(loop->dimension) + " of '" + on_.name.text +
                             "', but this subscript of '" + array.name() + "' lies on dimension " +
                             number_of(static_cast<size_t>(aligned)) +
                             ": the loop leaves the process's block");
  }

  // Returns the dimension's number, from 1, in the order in which the directive writes dimensions.
  std::string number_of(size_t dimension) const {
    return std::to_string(on_.brackets ? dimension + 1 : on_.subscripts.size() - dimension);
  }

  // Returns the loop whose index the subscript adds to constants and variables; nullptr: it has no
  // loop's index, or several.
  const DistributedLoop* loop_of(const Range& subscript) const {
    const std::string& text = unit_.printed.text();
    for (size_t at = subscript.begin; at < subscript.end; ++at) {
      const auto c = static_cast<unsigned char>(text[at]);
      if (std::isalnum(c) == 0 && std::isspace(c) == 0 && c != '_' && c != '+' && c != '-')
        return nullptr;
    }
    const DistributedLoop* found = nullptr;
    for (const Use& use : program_.facts.uses)
      for (const DistributedLoop& loop : nest_.loops) {
        if (!subscript.contains(use.name) || program_.facts.loops[loop.loop].index != use.entity)
          continue;
        if (found != nullptr) return nullptr;
        found = &loop;
      }
    return found;
  }

  const Program& program_;
  const Unit& unit_;
  const Reference& on_;
  const Nest& nest_;
  Diagnostics& diagnostics_;
};

}  // namespace

void warn_of_other_dimensions(const Program& program, const Unit& unit, Diagnostics& diagnostics) {
  for (const auto& [directive, nest] : program.nests)
    DimensionsOfLoop(program, unit, std::get<LoopDirective>(directive->body).on, nest, diagnostics)
        .check();
}

}  // namespace nagaya::xmp
