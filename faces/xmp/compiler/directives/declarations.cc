// SPDX-License-Identifier: BSD-3-Clause
#include "directives/declarations.h"

#include "directives/expression.h"

namespace nagaya::xmp {
namespace {

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
  DistributionFormat format{cursor.place(), DistributionFormat::kStar, {}, {}};
  if (cursor.accept("*")) return format;
  const Token word = cursor.identifier("'block', 'cyclic', 'gblock' or '*'");
  if (word.text == "gblock") {
    format.kind = DistributionFormat::kGblock;
    cursor.expect("(", "and the sizes of the blocks, or '*'");
    if (!cursor.accept_star()) format.sizes = cursor.expression();
    cursor.expect(")", "after the sizes of the blocks");
    return format;
  }
  if (word.text != "block" && word.text != "cyclic")
    throw Complaint{word.place, "unknown distribution '" + word.text +
                                    "'; write block, cyclic, gblock(sizes) or *"};
  format.kind = word.text == "block" ? DistributionFormat::kBlock : DistributionFormat::kCyclic;
  if (cursor.accept("(")) {
    format.width = cursor.expression();
    cursor.expect(")", "after the width of the blocks");
  }
  return format;
}

std::vector<DistributionFormat> parse_formats(Cursor& cursor) {
  return cursor.dimensions("the distribution of each dimension",
                           [&] { return parse_format(cursor); });
}

AlignSource parse_align_source(Cursor& cursor) {
  const Place place = cursor.place();
  if (cursor.accept("*")) return {AlignSource::kStar, {Token::kPunctuator, "*", place}};
  if (cursor.accept(":")) return {AlignSource::kColon, {Token::kPunctuator, ":", place}};
  return {AlignSource::kIndex, cursor.identifier("an align dummy variable, '*' or ':'")};
}

AlignSubscript parse_align_subscript(Cursor& cursor) {
  AlignSubscript subscript{parse_align_source(cursor)};
  if (subscript.kind != AlignSource::kIndex || (!cursor.is("+") && !cursor.is("-")))
    return subscript;
  // In i - a + b the minus applies to a alone. The text must be right even if a is unsigned.
  const Expression offset = cursor.expression();
  const std::string& index = subscript.token.text;
  if (!is_sum(offset))
    throw Complaint{offset.place(), "the subscript of '" + index + "' must be '" + index +
                                        "', or '" + index + "' and an offset: " + index + " + 1"};
  subscript.offset = {"0L " + offset.text(), {offset}};
  return subscript;
}

ShadowWidth parse_shadow_width(Cursor& cursor) {
  ShadowWidth width{cursor.place(), cursor.accept_star(), {}, {}};
  if (width.is_full) return width;
  width.low = cursor.expression();
  if (cursor.accept(":")) width.high = cursor.expression();
  return width;
}

}  // namespace

NodesDirective parse_nodes_declaration(Cursor& cursor) {
  NodesDirective nodes;
  nodes.name = cursor.identifier("the name of the nodes");
  nodes.brackets = cursor.is("[");
  nodes.extents = cursor.dimensions("the extents of '" + nodes.name.text + "'", [&] {
    NodesExtent extent{cursor.place(), {}};
    if (!cursor.accept_star()) extent.value = cursor.expression();
    return extent;
  });
  if (cursor.accept("=")) nodes.of = cursor.reference();
  return nodes;
}

TemplateDirective parse_template_declaration(Cursor& cursor) {
  TemplateDirective declared;
  declared.name = cursor.identifier("the name of the template");
  const bool brackets = cursor.is("[");
  declared.bounds = cursor.dimensions("the bounds of '" + declared.name.text + "'", [&] {
    if (declared.dimensions++ == 0) declared.deferred = cursor.is(":");
    if (cursor.is(":") != declared.deferred)
      cursor.complain("either all dimensions of a template are ':' or none is");
    return cursor.accept(":") ? TemplateBounds{} : parse_template_bounds(cursor, brackets);
  });
  if (declared.deferred) declared.bounds.clear();
  return declared;
}

DistributeDirective parse_distribution(Cursor& cursor) {
  DistributeDirective distribute;
  distribute.formats = parse_formats(cursor);
  cursor.expect("onto", "and nodes");
  distribute.onto = cursor.identifier("the name of nodes");
  return distribute;
}

AlignDirective parse_alignment(Cursor& cursor) {
  AlignDirective align;
  align.sources =
      cursor.dimensions("an index for each dimension", [&] { return parse_align_source(cursor); });
  cursor.expect("with", "and a template");
  align.with = cursor.identifier("the name of a template");
  align.subscripts =
      cursor.dimensions("a subscript for each dimension of '" + align.with.text + "'",
                        [&] { return parse_align_subscript(cursor); });
  return align;
}

ShadowDirective parse_shadow(Cursor& cursor) {
  ShadowDirective shadow;
  shadow.widths =
      cursor.dimensions("a width for each dimension", [&] { return parse_shadow_width(cursor); });
  return shadow;
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
