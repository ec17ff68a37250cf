// SPDX-License-Identifier: BSD-3-Clause
#include "unit_translation.h"

#include <set>

#include "checks/check.h"
#include "directives/parser.h"
#include "rewriting/translate.h"
#include "syntax/syntax.h"

namespace nagaya::xmp {
namespace {

struct ParsedDirectives {
  std::vector<Directive> directives;
  std::set<std::string> unsupported;  // texts of complaints about them, each printed once
};

ParsedDirectives parse_all(const Unit& unit, Diagnostics& diagnostics) {
  ParsedDirectives parsed;
  for (const RawDirective& raw : unit.directives) {
    try {
      for (Directive& directive : parse_directive(raw))
        parsed.directives.push_back(std::move(directive));
    } catch (const Complaint& complaint) {
      if (complaint.is_unsupported && !parsed.unsupported.insert(complaint.text).second) continue;
      diagnostics.error(complaint);
    }
  }
  return parsed;
}

}  // namespace

std::optional<std::string> translate_unit(const PreprocessorInput& input, Diagnostics& diagnostics,
                                          bool checked) {
  const Unit unit = preprocess(input, diagnostics);
  if (!unit.uses_xmp() || diagnostics.errors() != 0) return std::nullopt;
  ParsedDirectives parsed = parse_all(unit, diagnostics);
  for (const Complaint& complaint : unit.complaints) diagnostics.error(complaint);
  // Stops here: Clang would report errors that follow from these.
  if (!parsed.unsupported.empty() || !unit.complaints.empty()) return std::nullopt;
  std::optional<Facts> facts =
      parse_c(unit, input.standard, input.view.target_words(), diagnostics);
  // Stops here: other directives may depend on one with an error, and the checks would report
  // follow-up errors.
  if (!facts || diagnostics.errors() != 0) return std::nullopt;
  facts->add_sections(unit.sections);
  const Program program = check(unit, std::move(*facts), std::move(parsed.directives), diagnostics);
  if (diagnostics.errors() != 0) return std::nullopt;
  return translate(unit, program, input.source, checked);
}

}  // namespace nagaya::xmp
