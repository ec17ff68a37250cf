// SPDX-License-Identifier: BSD-3-Clause
#include "command.h"

#include <gtest/gtest.h>

namespace nagaya::tools {
namespace {

const char* const kHostile[] = {"",         " ",     "a b",        "it's",   "'; touch ran; '",
                                "$(touch)", "`x`",   "\"",         "\\",     "a\nb",
                                "*",        "~root", "a\t|b>c&d;", "${IFS}", "-n"};

TEST(OutputOf, AProgramGetsItsWordsAsTheyAre) {
  for (const char* word : kHostile) EXPECT_EQ(output_of({"/usr/bin/printf", "%s", word}), word);
}

TEST(OutputOf, IsFoundInPathAndReadsNothing) {
  EXPECT_EQ(output_of({"cat"}), "");
  EXPECT_EQ(output_of({"sh", "-c", "echo out; echo error >&2"}), "out\n");
  EXPECT_EQ(output_of({"sh", "-c", "echo out; echo error >&2"}, Errors::kIncluded), "out\nerror\n");
  EXPECT_EQ(output_of({"/nowhere/at/all"}), "");
  EXPECT_EQ(output_of({"head", "-c", "300000", "/dev/zero"}).size(), 300000u);
}

TEST(ShellWord, IsReadByAShellAsTheText) {
  for (const char* word : kHostile)
    EXPECT_EQ(output_of({"sh", "-c", "printf %s " + shell_word(word)}), word);
  EXPECT_EQ(shell_word("/usr/bin/nagaya"), "/usr/bin/nagaya");
}

}  // namespace
}  // namespace nagaya::tools
