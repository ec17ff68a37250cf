// SPDX-License-Identifier: BSD-3-Clause
// unit.h - a translation unit after preprocessing: plain C, and beside it the XMP directives that
// stood in it, as tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "place.h"

namespace nagaya::xmp {

struct Token {
  enum Kind { kIdentifier, kNumber, kString, kPunctuator };
  Kind kind;
  std::string text;
  Place place;
};

// The text that the compiler behind gets, in the end with edits. It has line markers.
class PrintedText {
 public:
  const std::string& text() const { return text_; }
  size_t size() const { return text_.size(); }
  // Where the user wrote the token that covers `offset`.
  Place place(size_t offset) const;
  // The line marker that makes the following text the user's line of `offset` again, and those
  // of its first line: "# 12 \"laplace.c\"\n".
  std::string line_marker(const Place& place) const;
  bool in_system_header(size_t offset) const;

  void append(const std::string& text) { text_ += text; }
  // The text appended next is the user's at `line` and `column` of `file`.
  void mark(const std::string& file, unsigned line, unsigned column, bool system_header);
  std::string_view keep(const std::string& file);

 private:
  struct Mark {
    uint32_t offset, file, line, column;
    bool system_header;
  };
  const Mark* mark_of(size_t offset) const;
  uint32_t number_of(const std::string& file);

  std::string text_;
  std::vector<Mark> marks_;        // ascending offsets
  std::deque<std::string> files_;  // names never move
};

struct RawDirective {
  size_t offset;              // in the text: the directive stood before the token that is here
  Place pragma;               // of the word xmp
  std::vector<Token> tokens;  // those behind the word xmp, macros expanded
};

// Another pragma, which stays in the text as a line of its own.
struct KeptPragma {
  size_t begin, end;
  bool openmp;
  bool of_a_loop;  // for the loop behind it: of OpenMP, or #pragma GCC unroll and its like
};

// xmp_desc_of(name): the text has a null pointer of the same meaning to C at [begin, end).
struct DescriptorOf {
  size_t begin, end;
  Token name;
};

struct Unit {
  PrintedText printed;
  std::vector<RawDirective> directives;
  std::vector<KeptPragma> pragmas;
  std::vector<DescriptorOf> descriptors;
  bool includes_xmp_h = false;
  bool failed = false;  // the preprocessor found an error
  // Coarrays, array sections and functions that are not supported.
  std::vector<Complaint> unsupported;
  bool has_unsupported_syntax = false;  // which is no C

  bool uses_xmp() const {
    return !directives.empty() || !descriptors.empty() || includes_xmp_h || has_unsupported_syntax;
  }
};

}  // namespace nagaya::xmp
