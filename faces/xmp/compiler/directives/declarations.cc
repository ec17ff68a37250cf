// SPDX-License-Identifier: BSD-3-Clause
#include "directives/declarations.h"

#include <algorithm>

#include "directives/expression.h"

namespace nagaya::xmp {
namespace {

template <typename List>
void turn_round_unless(bool brackets, List& list) {
  if (!brackets) std::reverse(list.begin(), list.end());
}

bool accept_star(Cursor& cursor) {
  return cursor.is("*") && (cursor.is(")", 1) || cursor.is("]", 1) || cursor.is(",", 1)) &&
         cursor.accept("*");
}

// Parses N, low:high (in parentheses) or base:length (in brackets). In parentheses N means 1:N.
TemplateBounds parse_template_bounds(Cursor& cursor, bool brackets) {
  const Expression first = cursor.expression();
  if (!cursor.accept(":")) {
    if (!brackets) return {{"1", {}}, bound_of(first)};
    return {{"0", {}}, {"(" + first.text() + ") - 1", {first}}};
  }
  const Expression second = cursor.expression();
  if (!brackets) return {bound_of(first), bound_of(second)};
  return {bound_of(first),
          {"(" + first.text() + ") + ((" + second.text() + ") - 1)", {first, second}}};
}

DistributionFormat parse_format(Cursor& cursor) {
  DistributionFormat format{cursor.place(), false, {}};
  if (cursor.accept("*")) return format;
  const Token word = cursor.identifier("'block' or '*'");
  if (word.text == "cyclic" || word.text == "gblock")
    throw Complaint{word.place, "the distribution '" + word.text + "' is not supported yet"};
  if (word.text != "block")
    throw Complaint{word.place, "unknown distribution '" + word.text + "'; write block or *"};
  format.block = true;
  if (cursor.accept("(")) {
    format.width = cursor.expression();
    cursor.expect(")", "after the width of the blocks");
  }
  return format;
}

AlignSource parse_align_source(Cursor& cursor) {
  const Place place = cursor.place();
  if (cursor.accept("*")) return {AlignSource::kStar, {Token::kPunctuator, "*", place}};
  if (cursor.accept(":")) return {AlignSource::kColon, {Token::kPunctuator, ":", place}};
  return {AlignSource::kIndex, cursor.identifier("an align dummy variable, '*' or ':'")};
}

AlignSubscript parse_align_subscript(Cursor& cursor) {
  const Place place = cursor.place();
  if (cursor.accept("*")) return {AlignSource::kStar, {Token::kPunctuator, "*", place}, {}};
  if (cursor.accept(":")) return {AlignSource::kColon, {Token::kPunctuator, ":", place}, {}};
  const Token index = cursor.identifier("an align dummy variable, '*' or ':'");
  if (!cursor.is("+") && !cursor.is("-")) return {AlignSource::kIndex, index, {"0", {}}};
  // In i - a + b the minus applies to a alone. The text must be right even if a is unsigned.
  const Expression offset = cursor.expression();
  if (!is_sum(offset))
    throw Complaint{offset.place(), "the subscript of '" + index.text + "' must be '" + index.text +
                                        "', or '" + index.text + "' and an offset: " + index.text +
                                        " + 1"};
  return {AlignSource::kIndex, index, {"0L " + offset.text(), {offset}}};
}

ShadowWidth parse_shadow_width(Cursor& cursor) {
  ShadowWidth width{cursor.place(), {}, {}};
  if (cursor.is("*")) cursor.complain("a full shadow is not supported yet");
  width.low = cursor.expression();
  if (cursor.accept(":")) width.high = cursor.expression();
  return width;
}

}  // namespace

NodesDirective parse_nodes_declaration(Cursor& cursor) {
  NodesDirective nodes;
  nodes.name = cursor.identifier("the name of the nodes");
  nodes.brackets = cursor.dimensions("the extents of '" + nodes.name.text + "'", [&] {
    NodesExtent extent{cursor.place(), {}};
    if (!accept_star(cursor)) extent.value = cursor.expression();
    nodes.extents.push_back(std::move(extent));
  });
  turn_round_unless(nodes.brackets, nodes.extents);
  if (cursor.accept("=")) nodes.of = cursor.reference();
  return nodes;
}

TemplateDirective parse_template_declaration(Cursor& cursor) {
  TemplateDirective declared;
  declared.name = cursor.identifier("the name of the template");
  const bool brackets = cursor.is("[");
  declared.brackets = cursor.dimensions("the bounds of '" + declared.name.text + "'", [&] {
    const Place place = cursor.place();
    if (declared.dimensions++ == 0) declared.deferred = cursor.is(":");
    if (cursor.is(":") != declared.deferred)
      throw Complaint{place, "either all dimensions of a template are ':' or none is"};
    if (declared.deferred)
      cursor.accept(":");
    else
      declared.bounds.push_back(parse_template_bounds(cursor, brackets));
  });
  turn_round_unless(brackets, declared.bounds);
  return declared;
}

std::vector<DistributionFormat> parse_formats(Cursor& cursor) {
  std::vector<DistributionFormat> formats;
  const bool brackets = cursor.dimensions("the distribution of each dimension",
                                          [&] { formats.push_back(parse_format(cursor)); });
  turn_round_unless(brackets, formats);
  return formats;
}

std::vector<AlignSource> parse_align_sources(Cursor& cursor) {
  std::vector<AlignSource> sources;
  const bool brackets = cursor.dimensions("an index for each dimension",
                                          [&] { sources.push_back(parse_align_source(cursor)); });
  turn_round_unless(brackets, sources);
  return sources;
}

void parse_with(Cursor& cursor, AlignDirective& align) {
  cursor.expect("with", "and a template");
  align.with = cursor.identifier("the name of a template");
  const bool brackets =
      cursor.dimensions("a subscript for each dimension of '" + align.with.text + "'",
                        [&] { align.subscripts.push_back(parse_align_subscript(cursor)); });
  turn_round_unless(brackets, align.subscripts);
}

std::vector<ShadowWidth> parse_shadow_widths(Cursor& cursor) {
  std::vector<ShadowWidth> widths;
  const bool brackets = cursor.dimensions("a width for each dimension",
                                          [&] { widths.push_back(parse_shadow_width(cursor)); });
  turn_round_unless(brackets, widths);
  return widths;
}

TemplateFixDirective parse_template_fix(Cursor& cursor) {
  TemplateFixDirective fix;
  if (cursor.opens_dimensions()) fix.formats = parse_formats(cursor);
  if (cursor.name() == nullptr) cursor.complain("expected the name of the template");
  Cursor ahead = cursor;
  const Token name = ahead.identifier("the name of the template");
  if (ahead.opens_dimensions()) {
    fix.fixed = parse_template_declaration(cursor);
    if (fix.fixed.deferred)
      throw Complaint{name.place, "'template_fix' needs the bounds of '" + name.text + "'"};
  } else {
    fix.fixed.name = cursor.identifier("the name of the template");
  }
  return fix;
}

}  // namespace nagaya::xmp
