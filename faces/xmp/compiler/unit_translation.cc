// SPDX-License-Identifier: BSD-3-Clause
#include "unit_translation.h"

#include "checks/check.h"
#include "directives/parser.h"
#include "rewriting/translate.h"
#include "syntax/syntax.h"

namespace nagaya::xmp {
namespace {

std::vector<Directive> parse_all(const Unit& unit, Diagnostics& diagnostics) {
  std::vector<Directive> directives;
  for (const RawDirective& raw : unit.directives) {
    try {
      for (Directive& directive : parse_directive(raw)) directives.push_back(std::move(directive));
    } catch (const Complaint& complaint) {
      diagnostics.error(complaint);
    }
  }
  return directives;
}

}  // namespace

std::optional<std::string> translate_unit(const PreprocessorInput& input,
                                          Diagnostics& diagnostics) {
  const Unit unit = preprocess(input, diagnostics);
  if (!unit.uses_xmp() || diagnostics.errors() != 0) return std::nullopt;
  std::vector<Directive> directives = parse_all(unit, diagnostics);
  std::optional<Facts> facts =
      parse_c(unit.printed, input.standard, input.view.target_words(), diagnostics);
  // A directive that is not understood may be what another one needs: no follow-up errors.
  if (!facts || diagnostics.errors() != 0) return std::nullopt;
  const Program program = check(unit, std::move(*facts), std::move(directives), diagnostics);
  if (diagnostics.errors() != 0) return std::nullopt;
  return translate(unit, program, input.source);
}

}  // namespace nagaya::xmp
