// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/expansions.h"

#include "rewriting/c_text.h"

namespace nagaya::xmp {

std::string expansion_pointer(const ExpandWidth& width) {
  return "&(const nagaya_xmp_expansion)" +
         braces({width.low.text(), (width.high ? *width.high : width.low).text(),
                 width.unbound ? "1" : "0"});
}

std::string loop_over_parts(const Directive& directive, const ExpandClause& clause,
                            const std::vector<ExpandedLoop>& loops, int number) {
  const std::string part = "xmp_space" + std::to_string(number), all = part + "_loops";
  std::vector<std::string> expanded;
  for (const ExpandedLoop& loop : loops) expanded.push_back(loop.name + "_expanded");
  const bool has_margin = clause.kind != ExpandClause::kExpand;
  const std::string first = clause.kind == ExpandClause::kMargin ? "1" : "0";
  const std::string last = has_margin ? std::to_string(4 * loops.size()) : "0";
  std::string text = " const nagaya_xmp_expanded " + all + "[] = " + braces(expanded) +
                     "; for (int " + part + " = " + first + "; " + part + " <= " + last + "; ++" +
                     part + ") {";
  if (clause.async)
    text += " if (" + part + " == 1) " +
            call_statement("nagaya_xmp_wait_async", directive.place,
                           {"1", array_of("long", {clause.async->text()}), "0"});
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::string range = loops[i].name + "_range";
    text += " const nagaya_xmp_range " + range + " = nagaya_xmp_expanded_range(" +
            list({all, std::to_string(loops.size()), std::to_string(i), part}) + "); const " +
            loops[i].index_type + " " + loops[i].name + "_first = " + range + ".first, " +
            loops[i].name + "_end = " + range + ".end;";
  }
  return text;
}

}  // namespace nagaya::xmp
