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
  EXPECT_TRUE(has(text, "nagaya_xmp_behind(xmp_p0, nagaya_xmp_offset(&xmp_coarray_x, xmp_k0));"))
      << text;
}

constexpr const char* kLookUp = "{ const long xmp_offset0 = nagaya_xmp_offset(&xmp_coarray_x, ";

std::string loops_of(const std::string& body) {
  return translated(
      "enum { kOne = 1 }; double x[9][9]:[*]; int y:[*], after(int); extern int shared; static int "
      "own;\n"
      "void f(int k, int* p, int n) { " +
      body + " }\n");
}

TEST(Coarrays, AnImageThatALoopDoesNotChangeIsFoundBeforeIt) {
  for (const std::string image : {"k", "k - 1", "(kOne + 2 * k)", "3", "own", "shared"}) {
    const std::string text = loops_of("for (int i = 0; i < n; i++) *p += x[i][0]:[" + image + "];");
    const bool is_known = image != "shared";  // the store through p may change it
    EXPECT_EQ(has(text, kLookUp + image + ");"), is_known) << text;
    EXPECT_EQ(has(text, "nagaya_xmp_behind(xmp_p0, xmp_offset0)"), is_known) << text;
  }
}

TEST(Coarrays, AnImageIsFoundBeforeTheOutermostLoopThatDoesNotChangeIt) {
  const std::string head = "for (int i = 0; i < n; i++)";
  const auto text_of_nest = [&](const std::string& image) {
    return loops_of(head + " for (int j = 0; j < n; j++) x[i][j]:[" + image + "] = j;");
  };
  const std::string outer = text_of_nest("k"), inner = text_of_nest("i");
  EXPECT_LT(outer.find(kLookUp), outer.find(head));
  ASSERT_TRUE(has(inner, kLookUp)) << inner;
  EXPECT_GT(inner.find(kLookUp), inner.find(head));
  EXPECT_LT(inner.find(kLookUp), inner.find("int j = 0"));
}

TEST(Coarrays, AnImageThatALoopMayChangeIsFoundAtEachAccess) {
  for (const char* body : {
           "for (int i = 0; i < n; i++) { x[0][0]:[k] = i; k++; }",
           "for (int i = 0; i < n; i++) x[0][0]:[k = i] = i;",
           "for (int i = 0; i < n; i++) x[0][0]:[n / k] = i;",
           "for (int i = 0; i < n; i++) x[0][0]:[after(2)] = i;",
           "for (int i = 0; i < n; i++) x[0][0]:[p[0]] = i;",
           "for (int i = 0; i < n; i++) x[0][0]:[y] = i;",
           "for (int i = 0; i < n; i++) { const int to = i; x[0][0]:[to] = i; }",
           "for (volatile int v = 0;;) for (int i = 0; i < n; i++) x[0][0]:[v] = i;",
           "for (int i = 0; i < n; i++) { x[0][0]:[own] = i; after(i); }",
           "p = &k; for (int i = 0; i < n; i++) { x[0][0]:[k] = i; *p = i; }",
           "for (k = 0; k < n; k++) x[0][0]:[k] = k;",
           "if (k) goto in; for (int i = 0; i < n; i++) { in: x[0][0]:[k] = i; }",
           "switch (k) for (int i = 0; i < n; i++) { case 1: x[0][0]:[k] = i; }",
           "\n#pragma omp parallel for collapse(2)\n"
           "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i][j]:[i] = i;",
           "\n#pragma xmp nodes q[1]\nfor (int i = 0; i < n; i++)\n#pragma xmp task on q[0]\n"
           "x[0][0]:[k] = i;",
           "\n#pragma xmp nodes q[1]\n#pragma xmp task on q[0]\n"
           "for (int i = 0; i < n; i++) x[0][0]:[k] = i;",
           "x[0][0]:[k] = 1;",
       }) {
    const std::string text = loops_of(body);
    EXPECT_FALSE(has(text, "const long xmp_offset0")) << text;
    EXPECT_TRUE(has(text, "nagaya_xmp_behind(xmp_p0, nagaya_xmp_offset(&xmp_coarray_x, xmp_k0))"))
        << text;
  }
}

TEST(Coarrays, TheLookUpStandsBeforeThePragmasOfItsLoop) {
  const std::string text = loops_of(
      "if (n)\n#pragma omp parallel for default(none) shared(x, n, k)\n"
      "for (int i = 0; i < n; i++) x[i][0]:[k] = i;");
  ASSERT_TRUE(has(text, kLookUp)) << text;
  EXPECT_LT(text.find(kLookUp), text.find("#pragma omp"));
  EXPECT_TRUE(has(text, "shared(xmp_coarray_x, xmp_offset0)")) << text;
}

TEST(Coarrays, ACoarrayIsDeclaredWhenTheProgramBegins) {
  const std::string text = translated("int x[3]:[2][*];\n");
  EXPECT_TRUE(
      has(text, "&xmp_coarray_x, \"x\", (void *)&x, sizeof(x), 0, 2, (const long[]){2}, 0)"))
      << text;
}

}  // namespace
}  // namespace nagaya::xmp
