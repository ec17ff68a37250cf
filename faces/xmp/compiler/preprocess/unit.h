// SPDX-License-Identifier: BSD-3-Clause
// unit.h - a translation unit after preprocessing: its text in plain C and, apart from it, the XMP
// directives that stood in it, as tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "place.h"
#include "range.h"

namespace nagaya::xmp {

struct Token {
  enum Kind { kIdentifier, kNumber, kString, kPunctuator };
  Kind kind;
  std::string text;
  Place place;
};

// The preprocessed text, with line markers. The compiler behind gets it after the translation's
// edits.
class PrintedText {
 public:
  const std::string& text() const { return text_; }
  size_t size() const { return text_.size(); }
  // Returns the place at which the user wrote the token that covers `offset`.
  Place place(size_t offset) const;
  // Returns the line marker by which the text that follows it counts as the user's line of `place`:
  // "# 12 \"laplace.c\"\n".
  std::string line_marker(const Place& place) const;
  bool in_system_header(size_t offset) const;

  void append(const std::string& text) { text_ += text; }
  // Records that the text appended next comes from `line` and `column` of `file`.
  void mark(const std::string& file, unsigned line, unsigned column, bool system_header);
  // Stores a file's name for Place::file and returns the stored one, which never moves.
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
  size_t offset;              // in the text, of the token before which the directive stood
  Place pragma;               // of the word xmp
  std::vector<Token> tokens;  // all behind the word xmp, with macros expanded
};

// A pragma that is no XMP directive. It stays in the text as a line of its own.
struct KeptPragma {
  size_t begin, end;
  bool openmp;
  bool of_a_loop;  // may belong to the loop behind it: OpenMP, #pragma GCC unroll, ...
};

// A call xmp_desc_of(name). Until it is translated the text has a null pointer in its place, at
// [begin, end), which C accepts.
struct DescriptorOf {
  size_t begin, end;
  Token name;
};

// A subscript `[base:length:step]` of a statement. The text has commas in place of its colons. In
// place of an omitted part, whose range is empty, it has 0, of a step 1.
struct Section {
  size_t open;  // offset of the bracket
  Range base, length, step;
  bool has_two_colons;
};

struct Unit {
  PrintedText printed;
  std::vector<RawDirective> directives;
  std::vector<KeptPragma> pragmas;
  std::vector<DescriptorOf> descriptors;
  std::vector<Section> sections;
  bool includes_xmp_h = false;
  bool failed = false;  // the preprocessor found an error
  // Complaints about array sections; one for each kind of unsupported coarray or function.
  std::vector<Complaint> unsupported;
  bool has_unsupported_syntax = false;  // coarrays or sections, which are no valid C

  bool uses_xmp() const {
    return !directives.empty() || !descriptors.empty() || includes_xmp_h || has_unsupported_syntax;
  }
};

}  // namespace nagaya::xmp
