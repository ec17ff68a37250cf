// SPDX-License-Identifier: BSD-3-Clause
#include "../../fuzz/directive_target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "corpus.h"
#include "directives/expression.h"
#include "directives/parser.h"
#include "xmp/sources.h"

namespace nagaya::xmp {
namespace {

std::vector<Directive> parsed(const std::string& text) {
  const std::string source = "#pragma xmp " + text + "\n";
  Diagnostics diagnostics(true);
  const Unit unit = preprocess(input_of(source), diagnostics);
  return parse_directive(unit.directives.at(0));
}

template <typename Body>
Body one(const std::string& text) {
  const std::vector<Directive> directives = parsed(text);
  EXPECT_EQ(directives.size(), 1u);
  return std::get<Body>(directives.at(0).body);
}

// The column, and the complaint.
std::string complaint(const std::string& text) {
  try {
    parsed(text);
  } catch (const Complaint& found) {
    return std::to_string(found.place.column) + ": " + found.text;
  }
  return "";
}

TEST(Directives, ParenthesesHaveTheOrderOfFortran) {
  const auto nodes = one<NodesDirective>("nodes p(2, 3, *)");
  ASSERT_EQ(nodes.extents.size(), 3u);
  EXPECT_FALSE(nodes.brackets);
  EXPECT_FALSE(nodes.extents[0].value);
  EXPECT_EQ(nodes.extents[1].value->text(), "3");
  EXPECT_EQ(nodes.extents[2].value->text(), "2");
}

TEST(Directives, BracketsHaveTheOrderOfC) {
  const auto nodes = one<NodesDirective>("nodes p[*][3][N + 1]");
  EXPECT_TRUE(nodes.brackets);
  EXPECT_FALSE(nodes.extents[0].value);
  EXPECT_EQ(nodes.extents[2].value->text(), "N + 1");
}

TEST(Directives, ALoneExtentOfATemplateBeginsAtOneInParenthesesAndAtZeroInBrackets) {
  EXPECT_EQ(one<TemplateDirective>("template t(10)").bounds[0].low.text, "1");
  EXPECT_EQ(one<TemplateDirective>("template t(10)").bounds[0].high.text, "10");
  EXPECT_EQ(one<TemplateDirective>("template t[10]").bounds[0].low.text, "0");
  EXPECT_EQ(one<TemplateDirective>("template t[10]").bounds[0].high.text, "(10) - 1");
}

TEST(Directives, ASectionInBracketsHasBaseAndLength) {
  const Subscript section = one<TaskDirective>("task on p[2:3]").on.subscripts[0];
  EXPECT_EQ(section.low.text, "2");
  EXPECT_EQ(section.high.text, "3");
  EXPECT_TRUE(section.has_length);
  EXPECT_EQ(one<TaskDirective>("task on p(2:3)").on.subscripts[0].high.text, "3");
  EXPECT_FALSE(one<TaskDirective>("task on p(2:3)").on.subscripts[0].has_length);
}

TEST(Directives, TwoColonsInASectionAreNotTheSignOfACombinedDirective) {
  const Subscript section = one<TaskDirective>("task on p(1::2)").on.subscripts[0];
  EXPECT_EQ(section.kind, Subscript::kRange);
  EXPECT_EQ(section.step.text, "2");
  EXPECT_EQ(one<TaskDirective>("task on p(:)").on.subscripts[0].kind, Subscript::kAll);
  EXPECT_EQ(one<TaskDirective>("task on p(*)").on.subscripts[0].kind, Subscript::kStar);
}

TEST(Directives, ACombinedDirectiveIsOneForEachNameAndAttribute) {
  EXPECT_EQ(parsed("align [i] with t[i] :: a, b").size(), 2u);
  EXPECT_EQ(parsed("align (i) with t(i), shadow (1) :: a").size(), 2u);
  EXPECT_EQ(parsed("template, distribute (block) onto p :: t(100), s(10)").size(), 4u);
  EXPECT_EQ(parsed("nodes :: p(4)").size(), 1u);
}

TEST(Directives, SeveralNamesAreSeveralDeclarations) {
  EXPECT_EQ(parsed("nodes p(4), q(2, 2)").size(), 2u);
}

TEST(Directives, ALoopHasIndexesAndReductions) {
  const auto loop =
      one<LoopDirective>("loop (i, j) on t(i, j + 1) reduction(+: s, t) reduction(firstmax: m/k/)");
  EXPECT_EQ(loop.indexes.size(), 2u);
  EXPECT_EQ(loop.on.subscripts.size(), 2u);
  ASSERT_EQ(loop.reductions.size(), 2u);
  EXPECT_EQ(loop.reductions[0].variables.size(), 2u);
  EXPECT_EQ(loop.reductions[1].variables[0].locations[0].name.text, "k");
}

TEST(Directives, DistributionsHaveWidthsOrSizes) {
  const auto distribute = one<DistributeDirective>(
      "distribute t[block(2)][cyclic][cyclic(w)][gblock(m)][gblock(*)][*] onto p");
  using Kind = DistributionFormat;
  const std::vector<Kind::Kind> kinds = {Kind::kBlock,  Kind::kCyclic, Kind::kCyclic,
                                         Kind::kGblock, Kind::kGblock, Kind::kStar};
  ASSERT_EQ(distribute.formats.size(), kinds.size());
  for (size_t d = 0; d < kinds.size(); ++d) EXPECT_EQ(distribute.formats[d].kind, kinds[d]) << d;
  EXPECT_FALSE(distribute.formats[1].width);
  EXPECT_EQ(distribute.formats[2].width->text(), "w");
  EXPECT_EQ(distribute.formats[3].sizes->text(), "m");
  EXPECT_FALSE(distribute.formats[4].sizes);
}

TEST(Directives, ClausesStandInAnyOrder) {
  const auto reflect =
      one<ReflectDirective>("reflect (a, b) async(7) orthogonal width(/periodic/1:2, 0)");
  EXPECT_EQ(reflect.arrays.size(), 2u);
  EXPECT_TRUE(reflect.orthogonal);
  EXPECT_TRUE(reflect.widths[0].periodic);
  EXPECT_EQ(reflect.widths[0].high->text(), "2");
  EXPECT_FALSE(reflect.widths[1].high);
  EXPECT_EQ(reflect.async->text(), "7");
}

TEST(Directives, MacrosAreExpandedAndPlacesAreTheUsers) {
  const std::string source = "#define N 4\n#define FOUR N\n#pragma xmp nodes p(FOUR)\n";
  Diagnostics diagnostics(true);
  const Unit unit = preprocess(input_of(source), diagnostics);
  const Directive directive = parse_directive(unit.directives.at(0)).at(0);
  const Expression extent = *std::get<NodesDirective>(directive.body).extents[0].value;
  EXPECT_EQ(extent.text(), "4");
  EXPECT_EQ(written(extent.place()), "test.c:3:21");
}

TEST(Directives, WidthsOfALoopComeInTheOrderOfC) {
  const auto loop = one<LoopDirective>("loop on t(i, j) peel_and_wait(10, -1, /unbound/ 2 : n)");
  const ExpandClause& clause = *loop.expansion;
  EXPECT_EQ(clause.kind, ExpandClause::kPeelAndWait);
  EXPECT_EQ(clause.async->text(), "10");
  ASSERT_EQ(clause.widths.size(), 2u);
  EXPECT_TRUE(clause.widths[0].unbound);
  EXPECT_EQ(clause.widths[0].low.text(), "2");
  EXPECT_EQ(clause.widths[0].high->text(), "n");
  EXPECT_EQ(clause.widths[1].low.text(), "- 1");
  EXPECT_FALSE(clause.widths[1].unbound || clause.widths[1].high);
}

TEST(Directives, AShadowMayBeFullInEachDimension) {
  const auto shadow = one<ShadowDirective>("shadow a[*][1:2]");
  EXPECT_TRUE(shadow.widths[0].is_full);
  EXPECT_FALSE(shadow.widths[1].is_full);
}

TEST(Directives, AComplaintHasItsPlace) {
  EXPECT_EQ(complaint("nodez p(4)"), "13: unknown directive 'nodez'; did you mean 'nodes'?");
  EXPECT_EQ(complaint("nodes p(4"), "22: expected ')' after the extents of 'p'");
  EXPECT_EQ(complaint("barrier wen p"), "21: unknown clause 'wen' of directive 'barrier'");
  EXPECT_EQ(complaint("tasklet"), "13: the directive 'tasklet' is not supported yet");
  EXPECT_EQ(complaint("distribute t(gblock) onto p"),
            "32: expected '(' and the sizes of the blocks, or '*', found ')'");
  EXPECT_EQ(complaint("loop on t(i) expand(1) margin(1)"),
            "36: a loop has one of the clauses expand, margin and peel_and_wait");
  EXPECT_EQ(complaint("static_desc : a"),
            "27: expected ':' and the names of arrays after 'static_desc', found 'a'");
  EXPECT_EQ(complaint("bcast(a) on p on q"), "27: the clause 'on' stands twice");
}

std::optional<long> value(const std::string& text) {
  const auto nodes = one<NodesDirective>("nodes p(" + text + ")");
  return constant_value(*nodes.extents[0].value, [](const std::string& name) {
    return name == "N" ? std::optional<long>(10) : std::nullopt;
  });
}

TEST(Expressions, ConstantsAreComputedAsInC) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(N - 1) / 2 % 3"), 1);
  EXPECT_EQ(value("N > 5 ? 1 << 3 : 0"), 8);
  EXPECT_EQ(value("-N + 0x10u"), 6);
  EXPECT_EQ(value("!N || ~0 == -1"), 1);
}

TEST(Expressions, OthersHaveNoValue) {
  EXPECT_EQ(value("M + 1"), std::nullopt);
  EXPECT_EQ(value("f(N)"), std::nullopt);
  EXPECT_EQ(value("a[1].b->c"), std::nullopt);
  EXPECT_EQ(value("sizeof(int)"), std::nullopt);
  EXPECT_EQ(value("(long)N"), std::nullopt);
  EXPECT_EQ(value("N / 0"), std::nullopt);
}

TEST(Expressions, NestingHasALimitAndNoCrash) {
  const std::string deep(100000, '(');
  EXPECT_NE(complaint("nodes p(" + deep + "1"), "");
  EXPECT_NE(complaint("nodes p(" + std::string(100000, '-') + "1)"), "");
}

TEST(Directives, EachFindOfTheFuzzerIsParsedOrRefused) {
  EXPECT_GT(replay("directive", fuzz::parse_any_directive), 0u);
}

}  // namespace
}  // namespace nagaya::xmp
