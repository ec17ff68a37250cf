// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/c_text.h"

#include <algorithm>

namespace nagaya::xmp {
namespace {

std::string subscript_text(const Subscript& subscript, bool nodes_from_one) {
  if (subscript.kind == Subscript::kStar) return "{NAGAYA_XMP_STAR, 0, 0, 1}";
  if (subscript.kind == Subscript::kAll) return "{NAGAYA_XMP_ALL, 0, 0, 1}";
  const auto numbered = [&](const Bound& bound) {
    // An omitted end has no expression, and stays as it is.
    return nodes_from_one && !bound.expressions.empty() ? "(" + bound.text + ") - 1" : bound.text;
  };
  return "{NAGAYA_XMP_RANGE, " + numbered(subscript.low) + ", " + numbered(subscript.high) + ", " +
         subscript.step.text + "}";
}

}  // namespace

std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string where(const Place& place) {
  return literal(written(place));
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string longs(const std::vector<std::string>& items) {
  return "(const long[]){" + list(items) + "}";
}

std::string on(const Program& program, const Reference& reference,
               const std::vector<size_t>& free_dimensions) {
  const ResolvedReference& resolved = program.references.at(&reference);
  const bool nodes_from_one = resolved.nodes != nullptr && !reference.brackets;
  std::vector<std::string> subscripts;
  for (size_t d = 0; d < reference.subscripts.size(); ++d) {
    const bool free = std::count(free_dimensions.begin(), free_dimensions.end(), d) != 0;
    subscripts.push_back(free ? "{NAGAYA_XMP_ALL, 0, 0, 1}"
                              : subscript_text(reference.subscripts[d], nodes_from_one));
  }
  return "&(const nagaya_xmp_on){" +
         list({resolved.nodes != nullptr ? resolved.nodes->c_name() : "0",
               resolved.of_template != nullptr ? resolved.of_template->c_name() : "0",
               std::to_string(subscripts.size()),
               subscripts.empty() ? "{{NAGAYA_XMP_ALL, 0, 0, 1}}" : "{" + list(subscripts) + "}"}) +
         "}";
}

std::string optional_on(const Program& program, const std::optional<Reference>& reference) {
  // `on *`: the executing nodes, as without a clause.
  return reference && !reference->executing ? on(program, *reference) : "0";
}

std::string optional_async(const std::optional<Expression>& async) {
  return async ? "&(const long){" + async->text() + "}" : "0";
}

std::string alignment(const ArraySymbol& array) {
  std::vector<std::string> dimensions;
  for (const Alignment& one : array.alignment)
    dimensions.push_back("{" +
                         list({std::to_string(one.dimension), one.offset.text, one.shadow_low.text,
                               one.shadow_high.text}) +
                         "}");
  return "(const nagaya_xmp_alignment[]){" + list(dimensions) + "}";
}

}  // namespace nagaya::xmp
