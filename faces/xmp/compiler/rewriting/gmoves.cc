// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/gmoves.h"

#include "rewriting/arrays.h"
#include "rewriting/c_text.h"

namespace nagaya::xmp {
namespace {

std::string zeros(size_t count) {
  std::string text;
  for (size_t n = 0; n < count; ++n) text += "[0]";
  return text;
}

// Returns the C text of the type of the side's elements.
std::string element_of(const GmoveSide& side) {
  if (side.array != nullptr) return element_type(*side.array);
  return "__typeof__(" + side.variable->name + zeros(side.use->subscripts.size()) + ")";
}

// Returns the extents of a variable that is not distributed; -1 for an unknown one.
std::string extents_of(const GmoveSide& side) {
  std::vector<std::string> extents;
  const Variable& variable = *side.variable;
  for (size_t d = 0; d < side.use->subscripts.size(); ++d) {
    const bool is_known = variable.kind != Variable::kParameter && d < variable.extents.size() &&
                          (variable.extents[d].constant || !variable.extents[d].text.empty());
    const std::string row = variable.name + zeros(d);
    extents.push_back(d != 0 || is_known ? "sizeof(" + row + ") / sizeof(" + row + "[0])" : "-1");
  }
  return array_of("long", extents);
}

class SideRewriter {
 public:
  SideRewriter(const GmoveSide& side, Edits& edits) : side_(side), edits_(edits) {}

  // Rewrites the side to a nagaya_xmp_side with `before` before and `after` behind it. `element`:
  // the type of a value.
  void rewrite(const std::string& before, const std::string& element, const std::string& after) {
    if (side_.use == nullptr)
      put(before + "{0, (void *)&(" + element + "){",
          "}, sizeof(" + element + "), 0, 0, 0}" + after);
    else if (!side_.needs_subscripts())
      put(before + "{0, (void *)&", ", sizeof(" + element_of(side_) + "), 0, 0, 0}" + after);
    else
      rewrite_subscripts(before, after);
  }

 private:
  void put(const std::string& before, const std::string& after) {
    edits_.insert(side_.range.begin, before);
    edits_.close(side_.range.end, side_.range.begin, after);
  }

  void rewrite_subscripts(const std::string& before, const std::string& after) {
    const std::string variable =
        side_.array != nullptr
            ? side_.array->address() + ", 0, 0, 0, 0"
            : "0, (void *)&" + side_.variable->name + zeros(side_.use->subscripts.size()) +
                  ", sizeof(" + element_of(side_) + "), " +
                  std::to_string(side_.use->subscripts.size()) + ", " + extents_of(side_);
    edits_.replace(side_.use->name, before + "{" + variable + ", (const nagaya_xmp_triplet[]){");
    for (const Use::Subscript& subscript : side_.use->subscripts) rewrite(subscript);
    edits_.close(side_.range.end, side_.range.begin, "}}" + after);
  }

  void rewrite(const Use::Subscript& subscript) {
    std::string open = "nagaya_xmp_single((", close = ")), ";
    if (subscript.section) {
      open = "nagaya_xmp_section_of(" +
             std::string(subscript.section->length.is_empty() ? "0" : "1") + ", ";
      close = subscript.section->has_two_colons ? "), " : ", 1), ";
    }
    edits_.replace({subscript.open, subscript.open + 1}, open);
    edits_.replace({subscript.close, subscript.close + 1}, close);
  }

  const GmoveSide& side_;
  Edits& edits_;
};

}  // namespace

void rewrite_gmove(const Program& program, const Directive& directive, const GmoveDirective& gmove,
                   Edits& edits) {
  static const char* const kModes[] = {"NAGAYA_XMP_GMOVE", "NAGAYA_XMP_GMOVE_IN",
                                       "NAGAYA_XMP_GMOVE_OUT"};
  const Gmove& found = program.gmoves.at(&directive);
  const std::string side = "(const nagaya_xmp_side)";
  SideRewriter(found.left, edits)
      .rewrite("nagaya_xmp_gmove(" + where(directive.place) + ", " + kModes[gmove.mode] + ", " +
                   optional_async(gmove.async) + ", " + side,
               "", "");
  edits.replace({found.sign, found.sign + 1}, ",");
  SideRewriter(found.right, edits).rewrite(side, element_of(found.left), ")");
}

}  // namespace nagaya::xmp
