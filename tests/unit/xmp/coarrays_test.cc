// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "preprocess/preprocess.h"
#include "unit_translation.h"
#include "xmp/sources.h"

namespace nagaya::xmp {
namespace {

Unit preprocessed(const std::string& source) {
  Diagnostics diagnostics(true);
  return preprocess(input_of(source), diagnostics);
}

std::string text_of(const Unit& unit, const Range& range) {
  return unit.printed.text().substr(range.begin, range.end - range.begin);
}

std::string translated(const std::string& source) {
  Diagnostics diagnostics(true);
  const std::optional<std::string> text = translate_unit(input_of(source), diagnostics);
  EXPECT_TRUE(diagnostics.messages().empty()) << diagnostics.messages()[0];
  return text.value_or("");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Coarrays, CodimensionsLeaveTheText) {
  const Unit unit = preprocessed("static int a[10]:[2][N + 1][*], b:[*], c[3];\n");
  EXPECT_TRUE(has(unit.printed.text(), "static int a[10], b, c[3];")) << unit.printed.text();
  ASSERT_EQ(unit.coarrays.size(), 2u);
  EXPECT_EQ(unit.coarrays[0].name.text, "a");
  EXPECT_EQ(unit.coarrays[0].codimensions.size(), 3u);
  EXPECT_EQ(unit.coarrays[1].name.text, "b");
}

TEST(Coarrays, ImagesBecomePartsOfPointers) {
  const Unit unit = preprocessed(
      "void f(int k) { s.m[a[x:[k]]]:[c ? 1 : 2][3].n = y[0:2]:[k]; }\n"
      "int g(int l) { switch (l) { case 1: [[gnu::unused]] l: return l; } return 0; }\n");
  const std::string& text = unit.printed.text();
  EXPECT_TRUE(
      has(text, "(*(&s.m[a[(*(&x + ( k)))]] + (c ? 1 : 2) + ( 3))) .n = (*(&y[0,2] + (k)));"))
      << text;
  ASSERT_EQ(unit.coindexes.size(), 3u);
  EXPECT_EQ(text_of(unit, unit.coindexes[0].whole), "(*(&x + ( k)))");
  EXPECT_EQ(text_of(unit, unit.coindexes[1].local), "s.m[a[(*(&x + ( k)))]]");
  EXPECT_EQ(text_of(unit, unit.coindexes[1].images[0]), "c ? 1 : 2");
  EXPECT_EQ(text_of(unit, unit.coindexes[1].images[1]), " 3");
  EXPECT_EQ(text_of(unit, unit.coindexes[2].local), "y[0,2]");
  ASSERT_EQ(unit.sections.size(), 1u);
  EXPECT_EQ(text_of(unit, unit.sections[0].length), "2");
}

TEST(Coarrays, OperandsOfAsmAreNoImages) {
  const Unit unit = preprocessed("void f(int x) { __asm__(\"\" : [out] \"=r\"(x)); }\n");
  EXPECT_TRUE(unit.coindexes.empty());
}

TEST(Coarrays, AnAssignmentEvaluatesEachPartOnce) {
  const std::string text = translated("int x:[*], f(void); void g(void) { x:[f()] = f() + 1; }\n");
  const std::string body = text.substr(text.find("void g(void)"));
  EXPECT_TRUE(has(body, "xmp_k0 = ( f());")) << body;
  EXPECT_TRUE(has(body, "__typeof__(*xmp_p0) xmp_v0 = ( f() + 1);")) << body;
  EXPECT_EQ(body.find("f()", body.find("f()", body.find("f()") + 1) + 1), std::string::npos);
}

TEST(Coarrays, ReadsLoadWhereTheImageHasIt) {
  const std::string text = translated("double x[4]:[*]; double g(int k) { return x[2]:[k]; }\n");
  EXPECT_TRUE(has(text, "nagaya_xmp_at(\"test.c:1:47\", &xmp_coarray_x, xmp_p0, xmp_k0)")) << text;
}

TEST(Coarrays, ACoarrayIsDeclaredWhenTheProgramBegins) {
  const std::string text = translated("int x[3]:[2][*];\n");
  EXPECT_TRUE(
      has(text, "&xmp_coarray_x, \"x\", (void *)&x, sizeof(x), 0, 2, (const long[]){2}, 0)"))
      << text;
}

}  // namespace
}  // namespace nagaya::xmp
