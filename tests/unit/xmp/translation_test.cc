// SPDX-License-Identifier: BSD-3-Clause
#include "unit_translation.h"

#include <gtest/gtest.h>

#include "../../fuzz/translation_target.h"
#include "corpus.h"
#include "xmp/sources.h"

namespace nagaya::xmp {
namespace {

const std::string kGrid =
    "#pragma xmp nodes p[*]\n"
    "#pragma xmp template t[100]\n"
    "#pragma xmp distribute t[block] onto p\n"
    "double u[100][10];\n"
    "#pragma xmp align u[i][*] with t[i]\n"
    "#pragma xmp shadow u[1][0]\n";

struct Translated {
  std::string text;
  std::vector<std::string> messages;
};

Translated translated(const std::string& source) {
  Diagnostics diagnostics(true);
  const std::optional<std::string> text = translate_unit(input_of(source), diagnostics);
  return {text.value_or(""), diagnostics.messages()};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Translation, AUnitWithoutDirectivesIsLeftAlone) {
  const Translated result = translated("int main(void) { return 0; }\n");
  EXPECT_EQ(result.text, "");
  EXPECT_TRUE(result.messages.empty());
}

TEST(Translation, AccessesKeepTheGlobalIndex) {
  const Translated result = translated(kGrid + "double f(int i) { return u[i + 1][2]; }\n");
  EXPECT_TRUE(result.messages.empty());
  EXPECT_TRUE(has(result.text, "xmp_rows_u[(i + 1) - xmp_first0_u][2]")) << result.text;
  EXPECT_TRUE(has(result.text, "double (*const xmp_rows_u)[10]")) << result.text;
}

TEST(Translation, AnIndexMayContainAnotherAccess) {
  const Translated result = translated(kGrid + "double f(int i) { return u[(int)u[i][0]][1]; }\n");
  EXPECT_TRUE(
      has(result.text, "xmp_rows_u[((int)xmp_rows_u[(i) - xmp_first0_u][0]) - xmp_first0_u][1]"))
      << result.text;
}

TEST(Translation, SizeofKeepsTheDeclaredType) {
  const Translated result = translated(kGrid + "unsigned long f(void) { return sizeof(u); }\n");
  EXPECT_TRUE(has(result.text, "sizeof((*xmp_type_u()))")) << result.text;
}

TEST(Translation, APragmaOfOpenMPStaysDirectlyBeforeItsLoop) {
  const std::string loop = "for (int i = 0; i < 100; i++) u[i][0] = i;\n";
  for (const std::string pragmas : {"#pragma xmp loop on t[i]\n#pragma omp parallel for\n",
                                    "#pragma omp parallel for\n#pragma xmp loop on t[i]\n"}) {
    const Translated result = translated(kGrid + "void f(void) {\n" + pragmas + loop + "}\n");
    const size_t range = result.text.find("nagaya_xmp_loop(\""),
                 pragma = result.text.find("#pragma omp");
    const size_t statement = result.text.find("for (int i");
    EXPECT_TRUE(range < pragma && pragma < statement) << result.text;
  }
}

TEST(Translation, ADirectiveIsNoBodyOfAnIf) {
  const Translated result =
      translated(kGrid + "void f(int c) {\n  if (c)\n#pragma xmp reflect (u)\n    c = 0;\n}\n");
  ASSERT_EQ(result.messages.size(), 1u);
  EXPECT_TRUE(has(result.messages[0], "test.c:9:13: error: xmp: the directive 'reflect' cannot"));
}

TEST(Translation, TheDirectiveOfAMacroIsADirective) {
  const Translated result =
      translated(kGrid + "#define BARRIER _Pragma(\"xmp barrier\")\nvoid f(void) { BARRIER }\n");
  EXPECT_TRUE(has(result.text, "nagaya_xmp_barrier(\"test.c:8:16\"")) << result.text;
}

TEST(Translation, TheErrorOfPlainCHasTheUsersPlace) {
  const Translated result =
      translated(kGrid + "#define LONGER 1 + 1 + 1\nint f(void) { return LONGER + missing; }\n");
  ASSERT_EQ(result.messages.size(), 1u);
  EXPECT_EQ(result.messages[0], "test.c:8:31: error: use of undeclared identifier 'missing'");
}

TEST(Translation, AVariableOfTheSameNameIsNotTheArray) {
  const Translated result = translated(kGrid + "int f(int u) { { int u = 3; } return u; }\n");
  EXPECT_TRUE(has(result.text, "int f(int u) { { int u = 3; } return u; }")) << result.text;
}

TEST(Translation, OnlyNamesThatItMakesAreRefused) {
  for (const std::string name :
       {"xmp_kernel", "xmp_task_number", "xmp_loops", "xmp_data", "xmp_once"})
    EXPECT_TRUE(translated(kGrid + "void f(void) { int " + name + "; }\n").messages.empty())
        << name;
  for (const std::string name :
       {"xmp_k", "xmp_task", "xmp_loop1_first", "xmp_on1", "xmp_reduced1", "xmp_data0_0_s"})
    EXPECT_EQ(translated(kGrid + "void f(void) { int " + name + "; }\n").messages.size(), 1u)
        << name;
}

TEST(Translation, NamesOfTheCLibraryAreFreeForVariables) {
  EXPECT_TRUE(translated(kGrid + "int index;\ndouble round;\n").messages.empty());
}

TEST(Translation, ALoopAlongAnotherDimensionIsWarnedOf) {
  const std::string grid =
      "#pragma xmp nodes p(2, 2)\n"
      "#pragma xmp template t(0:7, 0:7)\n"
      "#pragma xmp distribute t(block, block) onto p\n"
      "int a[8][8], b[8], place[8];\n"
      "#pragma xmp align a[i][j] with t(j, i)\n"
      "#pragma xmp align b[i] with t(*, i)\n";
  const auto body = [&](const std::string& statement) {
    return translated(grid +
                      "void f(int k) {\n#pragma xmp loop on t(i, j)\nfor (int j = 0; j < 8; j++)\n"
                      "for (int i = 0; i < 8; i++)\n" +
                      statement + ";\n}\n")
        .messages;
  };
  for (const std::string right :
       {"a[j][i] = 1", "b[j] = 1", "place[i] = 1", "a[place[i]][0] = 1", "a[i * k][0] = 1",
        "a[j - i][0] = 1", "a[k][0] = sizeof(a[i][j])"})
    EXPECT_TRUE(body(right).empty()) << right;
  for (const std::string wrong : {"a[i][0] = 1", "a[1 + i - k][i] = 1", "b[i] = 1"}) {
    const std::vector<std::string> messages = body(wrong);
    ASSERT_EQ(messages.size(), 1u) << wrong;
    EXPECT_TRUE(
        has(messages[0], "test.c:11:3: warning: xmp: index 'i' runs along dimension 1 of 't'"))
        << messages[0];
    EXPECT_TRUE(has(messages[0], "lies on dimension 2")) << messages[0];
  }
}

// Returns the translation of a loop on t[i + 2] over v, aligned with t[i + 2], of this body.
std::string cyclic_loop(const std::string& format, const std::string& body, bool checked = false) {
  const std::string source =
      "#pragma xmp nodes p[*]\n#pragma xmp template t[100]\n"
      "#pragma xmp distribute t[" +
      format +
      "] onto p\n"
      "int v[90];\n#pragma xmp align v[i] with t[i + 2]\n"
      "void f(int k) {\n#pragma xmp loop on t[i + 2]\n"
      "for (int i = 0; i < 90; i++) " +
      body + ";\n}\n";
  Diagnostics diagnostics(true);
  return translate_unit(input_of(source), diagnostics, checked).value();
}

TEST(Translation, AnElementAtTheIndexOfACyclicLoopNeedsNoDivision) {
  for (const std::string subscript : {"i", " i ", "i + 0", "0+i", "i - 1 + 1", "2 + i - 2L"}) {
    const std::string body = "v[" + subscript + "] = k";
    EXPECT_TRUE(has(cyclic_loop("cyclic", body), "xmp_rows_v[xmp_loop1_n - xmp_first0_v] = k"))
        << subscript;
    EXPECT_TRUE(has(cyclic_loop("cyclic(3)", body),
                    "xmp_rows_v[(i) - xmp_loop1_behind - xmp_first0_v] = k"))
        << subscript;
  }
}

TEST(Translation, RunsOfAConstantWidthAreToldIt) {
  const std::string width = "xmp_loop1_rounds.width = ";
  EXPECT_TRUE(has(cyclic_loop("cyclic(3)", "v[i] = k"), width + "3;"));
  EXPECT_TRUE(has(cyclic_loop("cyclic(1 + 2)", "v[i] = k"), width + "3;"));
  EXPECT_FALSE(has(cyclic_loop("cyclic", "v[i] = k"), width));
  // template_fix may give another width.
  EXPECT_FALSE(has(translated("#pragma xmp nodes p[*]\n#pragma xmp template t[:]\n"
                              "#pragma xmp distribute t[cyclic(3)] onto p\n"
                              "void f(void) {\n#pragma xmp template_fix t[100]\n"
                              "#pragma xmp loop on t[i]\nfor (int i = 0; i < 90; i++) ;\n}\n")
                       .text,
                   width));
}

TEST(Translation, OtherElementsOfACyclicDimensionAreDividedFor) {
  for (const std::string subscript :
       {"i + 1", "k", "i + k - k", "-i", "1 - + i", "i * 1", "(i)", "i + 00"}) {
    const std::string text = cyclic_loop("cyclic", "v[" + subscript + "] = k");
    EXPECT_TRUE(has(
        text, "xmp_rows_v[nagaya_xmp_place(xmp_cycle0_v, (" + subscript + ")) - xmp_first0_v] = k"))
        << text;
  }
  EXPECT_TRUE(has(cyclic_loop("cyclic", "v[i] = k", true),
                  "nagaya_xmp_place(xmp_cycle0_v, nagaya_xmp_checked(\"test.c:8:30\", xmp_rows_v, "
                  "0, (i))) - xmp_first0_v] = k"));
}

TEST(Translation, CheckedAccessesHaveTheirPlaces) {
  Diagnostics diagnostics(true);
  const std::string source = kGrid + "double f(int i) { return u[i + 1][2]; }\n";
  const std::string text = translate_unit(input_of(source), diagnostics, true).value();
  EXPECT_TRUE(has(text,
                  "xmp_rows_u[nagaya_xmp_checked(\"test.c:7:26\", xmp_rows_u, 1, (i + 1)) - "
                  "xmp_first0_u][nagaya_xmp_checked(\"test.c:7:26\", xmp_rows_u, 0, (2))]"))
      << text;
}

TEST(Translation, OrdinaryCIsNoUnsupportedSyntax) {
  const Translated result =
      translated(kGrid +
                 "void xmp_free(void *block) { *(int *)block = 0; }\n"
                 "int f(int c, int *v) {\n"
                 "  int out;\n"
                 "  __asm__ volatile(\"\" : [out] \"=r\"(out) : [in] \"r\"(v[c ? 1 : 2]));\n"
                 "  int w[] = {[0 ... 2] = 1, [3] = v[c ?: 4]};\n"
                 "  xmp_free(v);\n"
                 "  return w[v[({ again: if (c) goto again; 0; })] ? (c ? 1 : 2) : 0] + out;\n"
                 "}\n");
  EXPECT_TRUE(result.messages.empty()) << result.messages[0];
}

TEST(Translation, SectionsBecomeCommaExpressions) {
  const std::string source =
      "void f(int c, int *v) {\n"
      "  v[c ? 1 : 2:v[3:c]:4] = v<: : :> + v[:c] + v[c:] + v[::2] + v[({ l: 0; })];\n"
      "}\n";
  Diagnostics diagnostics(true);
  const Unit unit = preprocess(input_of(source), diagnostics);
  const std::string& text = unit.printed.text();
  EXPECT_TRUE(
      has(text, "v[c ? 1 : 2,v[3,c],4] = v[ 0, 0] + v[0,c] + v[c,0] + v[0,0,2] + v[({ l: 0; })]"))
      << text;
  std::vector<std::string> parts;
  for (const Section& section : unit.sections) {
    std::string all;
    for (const Range& part : {section.base, section.length, section.step})
      all += text.substr(part.begin, part.end - part.begin) + "|";
    parts.push_back(all);
  }
  EXPECT_EQ(parts, (std::vector<std::string>{"3|c||", "c ? 1 : 2|v[3,c]|4|", "|||", "|c||", "c|||",
                                             "||2|"}));
}

TEST(Translation, AGmoveIsOneCallWithItsSubscripts) {
  const std::string text = translated(kGrid +
                                      "void f(int i, double *v) {\n#pragma xmp gmove in async(2)\n"
                                      "  v[i:3] = u[:i ? 4 : 5:2][i++];\n}\n")
                               .text;
  EXPECT_TRUE(has(text,
                  "nagaya_xmp_gmove(\"test.c:8:13\", NAGAYA_XMP_GMOVE_IN, "
                  "&(const long){2}, (const nagaya_xmp_side){0, (void *)&v[0], "))
      << text;
  EXPECT_TRUE(has(text, "nagaya_xmp_section_of(1, i,3, 1), }} , ")) << text;
  EXPECT_TRUE(has(text,
                  "{&xmp_block_u, 0, 0, 0, 0, (const nagaya_xmp_triplet[]){"
                  "nagaya_xmp_section_of(1, 0,i ? 4 : 5,2), nagaya_xmp_single((i++)), }});"))
      << text;
}

TEST(Translation, AnArrayDirectiveIsANestOfDistributedLoops) {
  const std::string text = translated(kGrid +
                                      "void f(double v[9][10]) {\n#pragma xmp array on t[2:3]\n"
                                      "  u[1:3:2][:] = v[:][0:10] + u[0][0];\n}\n")
                               .text;
  EXPECT_TRUE(has(text, "const long xmp_elements0 = 3;")) << text;
  EXPECT_TRUE(has(text,
                  "xmp_rows_u[((1) + xmp_n0 * (2)) - xmp_first0_u][(0) + xmp_n1] = "
                  "v[(0) + xmp_n0][(0) + xmp_n1] + "))
      << text;
  EXPECT_TRUE(has(text, "nagaya_xmp_loop(")) << text;
}

TEST(Translation, MisplacedSectionsAreRefused) {
  const auto messages_of = [](const std::string& text) {
    return translated("#pragma xmp nodes p[4]\n" + text).messages;
  };
  using Messages = std::vector<std::string>;
  EXPECT_EQ(messages_of("void f(int *v) { v[0:2] = v[3] + v[4:2]; }\n"),
            Messages{"test.c:2:35: error: xmp: an array section stands alone on its side of the "
                     "assignment: name[base:length] = ..."});
  EXPECT_EQ(messages_of("int v[1:2];\n"),
            Messages{"test.c:2:8: error: xmp: an array section stands only in a statement"});
  EXPECT_EQ(messages_of("void f(int *v) { v[0:1:2:3] = 1; }\n"),
            Messages{"test.c:2:25: error: xmp: an array section has at most two ':': "
                     "[base:length:step]"});
}

TEST(Translation, UnsupportedPartsAreSaidOnceAndAlone) {
  const auto messages_of = [](const std::string& statements) {
    return translated("#pragma xmp nodes p[4]\nvoid f(void) { " + statements + " }\n").messages;
  };
  using Messages = std::vector<std::string>;
  EXPECT_EQ(messages_of("\n#pragma xmp tasklet\n#pragma xmp tasklet\nunknown;\n"),
            Messages{"test.c:3:13: error: xmp: the directive 'tasklet' is not supported yet"});
}

TEST(Translation, AnExpandedLoopStandsOnceInALoopOverItsParts) {
  const Translated result = translated(kGrid +
                                       "void f(void) {\n"
                                       "#pragma xmp loop on t[i] peel_and_wait(3, -1)\n"
                                       "  for (int i = 0; i < 100; i++) u[i][0] = i;\n"
                                       "}\n");
  EXPECT_TRUE(result.messages.empty());
  EXPECT_TRUE(has(result.text, "for (int xmp_space1 = 0; xmp_space1 <= 4; ++xmp_space1)"));
  EXPECT_TRUE(has(result.text, "if (xmp_space1 == 1) nagaya_xmp_wait_async("));
  EXPECT_TRUE(has(result.text, "for (int i = xmp_loop1_first; i < xmp_loop1_end; i++)"));
}

TEST(Translation, EachFindOfTheFuzzerIsTranslatedOrRefused) {
  EXPECT_GT(replay("translation", fuzz::translate_any_source), 0u);
}

}  // namespace
}  // namespace nagaya::xmp
