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
  // Inserts text; it counts as the user's token that begins at `offset`.
  void insert(size_t offset, const std::string& text);
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

// The length of the array `name` that a statement of `array` leaves out. The text has it by sizeof,
// at [begin, end), which is wrong for an array that is a pointer in C.
struct LengthOf {
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

// A coarray that is declared with its codimensions: `int a[10]:[2][*]`. They are not in the text.
struct CoarrayDeclaration {
  Token name;
  size_t offset;  // where its codimensions stood, behind the declarator
  Place place;    // of the colon
  std::vector<std::vector<Token>> codimensions;  // the last one is `*`
};

// A reference to a coarray of another image: `a[i]:[k]`. Until it is translated the text has
// (*(&a[i] + (k))) in its place, which has the reference's type. All ranges are of that text.
struct Coindex {
  Range whole;
  Range local;                // a[i]
  std::vector<Range> images;  // k
  Place place;                // of the colon
};

struct Unit {
  PrintedText printed;
  std::vector<RawDirective> directives;
  std::vector<KeptPragma> pragmas;
  std::vector<DescriptorOf> descriptors;
  std::vector<LengthOf> lengths;
  std::vector<Section> sections;
  std::vector<CoarrayDeclaration> coarrays;
  std::vector<Coindex> coindexes;
  bool synchronises_images = false;  // calls xmp_sync_image() or its like
  bool includes_xmp_h = false;
  bool failed = false;                // the preprocessor found an error
  std::vector<Complaint> complaints;  // about array sections and coarrays

  // Inserts text that stands for the token at `offset`, behind which nothing but an expression was
  // appended.
  void insert(size_t offset, const std::string& text);

  bool uses_xmp() const {
    return !directives.empty() || !descriptors.empty() || includes_xmp_h || !sections.empty() ||
           !coarrays.empty() || !coindexes.empty() || !complaints.empty();
  }
};

}  // namespace nagaya::xmp
