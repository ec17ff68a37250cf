// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.h"

#include <gtest/gtest.h>

namespace nagaya::base {
namespace {

TEST(Printable, TextOfAllLanguagesStaysAsItIs) {
  for (const char* text : {"", "/home/me/My Projects/a.out", "$(touch x) `y` 'z' \"\\", "größer",
                           "\xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x90\x8d", "\xc2\xa0"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, NoByteCommandsATerminalOrForgesALine) {
  const struct {
    std::string_view text, shown;
  } cases[] = {
      {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
      {{"\0\x1b[2J\x7f", 6}, "\\x00\\x1b[2J\\x7f"},
      {"\xc2\x9b"
       "2J",
       "\\xc2\\x9b2J"},                              // C1: one character that begins a sequence
      {"\xe2\x80\xae/x", "\\xe2\\x80\\xae/x"},       // text from right to left
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},           // line separator
      {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},           // isolates
      {"\xff\xc3", "\\xff\\xc3"},                    // no UTF-8, and cut
      {"\xc0\x8a", "\\xc0\\x8a"},                    // a line break in too many bytes
      {"\xe0\x80\x8a", "\\xe0\\x80\\x8a"},           // in more
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // half a pair of UTF-16
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
      {"\xe2\x80z", "\\xe2\\x80z"},
  };
  for (const auto& one : cases) EXPECT_EQ(printable(one.text), one.shown);
}

}  // namespace
}  // namespace nagaya::base
