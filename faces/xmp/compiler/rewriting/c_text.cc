// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/c_text.h"

namespace nagaya::xmp {
namespace {

const char* const kAllText = "{NAGAYA_XMP_ALL, 0, 0, 1}";
const char* const kStarText = "{NAGAYA_XMP_STAR, 0, 0, 1}";

bool nodes_from_one(const Program& program, const Reference& reference) {
  return program.references.at(&reference).nodes != nullptr && !reference.brackets;
}

std::string subscript_text(const Subscript& subscript, bool from_one) {
  if (subscript.kind == Subscript::kStar) return kStarText;
  if (subscript.kind == Subscript::kAll) return kAllText;
  const auto numbered = [&](const Bound& bound) {
    // An omitted end has no expression and keeps its value.
    return from_one && !bound.expressions.empty() ? "(" + bound.text + ") - 1" : bound.text;
  };
  if (subscript.single) return "nagaya_xmp_index(" + numbered(subscript.low) + ")";
  const std::string values =
      list({numbered(subscript.low), numbered(subscript.high), subscript.step.text});
  return subscript.has_length ? "nagaya_xmp_section(" + values + ")"
                              : "{NAGAYA_XMP_RANGE, " + values + "}";
}

std::string on_text(const Program& program, const Reference& reference,
                    const std::vector<std::string>& subscripts) {
  const ResolvedReference& resolved = program.references.at(&reference);
  return braces({resolved.nodes != nullptr ? resolved.nodes->c_name() : "0",
                 resolved.of_template != nullptr ? resolved.of_template->c_name() : "0",
                 std::to_string(subscripts.size()),
                 braces({subscripts.empty() ? kAllText : list(subscripts)})});
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

std::string braces(const std::vector<std::string>& items) {
  return "{" + list(items) + "}";
}

std::string array_of(const std::string& type, const std::vector<std::string>& items) {
  return "(const " + type + "[])" + braces(items);
}

std::string call(const std::string& function, const Place& place,
                 const std::vector<std::string>& arguments) {
  return function + "(" + where(place) + ", " + list(arguments) + ")";
}

std::string call_statement(const std::string& function, const Place& place,
                           const std::vector<std::string>& arguments) {
  return call(function, place, arguments) + ";";
}

std::string on_pointer(const Program& program, const Reference& reference) {
  const bool from_one = nodes_from_one(program, reference);
  std::vector<std::string> subscripts;
  for (const Subscript& subscript : reference.subscripts)
    subscripts.push_back(subscript_text(subscript, from_one));
  return "&(const nagaya_xmp_on)" + on_text(program, reference, subscripts);
}

std::string on_statements(const Program& program, const Reference& reference,
                          const std::string& name) {
  const ResolvedReference& resolved = program.references.at(&reference);
  const bool from_one = nodes_from_one(program, reference);
  std::string text =
      "nagaya_xmp_on " + name + "; " + name +
      ".nodes = " + (resolved.nodes != nullptr ? resolved.nodes->c_name() : "0") + "; " + name +
      ".of_template = " + (resolved.of_template != nullptr ? resolved.of_template->c_name() : "0") +
      "; " + name + ".dimensions = " + std::to_string(reference.subscripts.size()) + "; ";
  for (size_t d = 0; d < reference.subscripts.size(); ++d) {
    const std::string value = subscript_text(reference.subscripts[d], from_one);
    text += name + ".subscript[" + std::to_string(d) +
            "] = " + (value.front() == '{' ? "(nagaya_xmp_subscript)" : "") + value + "; ";
  }
  return text;
}

std::string loop_on_value(const Program& program, const Reference& reference, const Nest& loop) {
  const bool from_one = nodes_from_one(program, reference);
  std::vector<std::string> subscripts;
  for (size_t d = 0; d < reference.subscripts.size(); ++d)
    subscripts.push_back(loop.loop_along(d) != nullptr
                             ? kAllText
                             : subscript_text(reference.subscripts[d], from_one));
  return on_text(program, reference, subscripts);
}

std::string reduction_on_value(const Program& program, const Reference& reference, const Nest& loop,
                               const std::string& on) {
  std::vector<std::string> subscripts;
  for (size_t d = 0; d < reference.subscripts.size(); ++d)
    subscripts.push_back(loop.loop_along(d) != nullptr ? kAllText
                         : reference.subscripts[d].kind == Subscript::kAll
                             ? kStarText
                             : on + ".subscript[" + std::to_string(d) + "]");
  return on_text(program, reference, subscripts);
}

std::string optional_on_pointer(const Program& program, const std::optional<Reference>& reference) {
  // `on *` means the executing nodes, like no on clause.
  return reference && !reference->executing ? on_pointer(program, *reference) : "0";
}

std::string optional_async(const std::optional<Expression>& async) {
  return async ? "&(const long){" + async->text() + "}" : "0";
}

std::string alignment(const ArraySymbol& array) {
  std::vector<std::string> dimensions;
  for (const Alignment& one : array.alignment)
    dimensions.push_back(braces({std::to_string(one.dimension), one.offset.text,
                                 one.shadow_low.text, one.shadow_high.text}));
  return array_of("nagaya_xmp_alignment", dimensions);
}

namespace {

std::string distribution(const DistributionFormat& format) {
  const std::string width = format.width ? format.width->text() : "0";
  switch (format.kind) {
    case DistributionFormat::kStar:
      return "{NAGAYA_XMP_NOT_DISTRIBUTED, 0, 0, 0, 0}";
    case DistributionFormat::kBlock:
      return "{NAGAYA_XMP_BLOCK, " + width + ", 0, 0, 0}";
    case DistributionFormat::kCyclic:
      return "{NAGAYA_XMP_CYCLIC, " + (format.width ? width : "1") + ", 0, 0, 0}";
    case DistributionFormat::kGblock:
      break;
  }
  if (!format.sizes) return "{NAGAYA_XMP_GBLOCK, 0, 0, 0, 0}";
  // sizeof does not give the extent of a formal array, a pointer. The sum stops a warning of that.
  const std::string sizes = format.sizes->text(), size = "sizeof(" + sizes + "[0])";
  return "{NAGAYA_XMP_GBLOCK, 0, " + sizes + ", " + size +
         ", __builtin_types_compatible_p(__typeof__(" + sizes + "), __typeof__(&" + sizes +
         "[0])) ? 0 : sizeof(" + sizes + ") / (0 + " + size + ")}";
}

}  // namespace

std::string distribution_array(const std::vector<DistributionFormat>& formats) {
  std::vector<std::string> texts;
  for (const DistributionFormat& format : formats) texts.push_back(distribution(format));
  return texts.empty() ? "0" : array_of("nagaya_xmp_distribution", texts);
}

std::string bounds_array(const std::vector<TemplateBounds>& bounds, Bound TemplateBounds::*end) {
  std::vector<std::string> texts;
  for (const TemplateBounds& one : bounds) texts.push_back((one.*end).text);
  return array_of("long", texts);
}

}  // namespace nagaya::xmp
