// SPDX-License-Identifier: BSD-3-Clause
// printer.h - writes the tokens of the preprocessor as text and remembers where each comes from.
#pragma once

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/TokenConcatenation.h>

#include <string>

#include "preprocess/array_statement.h"
#include "preprocess/postfix.h"
#include "preprocess/sections.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

class Printer {
 public:
  Printer(clang::Preprocessor& preprocessor, Unit& unit);

  // Appends the token to the unit's text. For xmp_desc_of it reads further tokens; returns false if
  // that met the end of the source.
  bool print(const clang::Token& token);
  // Writes a pragma that stays in the text: `first` and all tokens up to the end of its line.
  // `expand`: expands macros in it.
  void keep_pragma(const std::string& prefix, clang::SourceLocation place, clang::Token& first,
                   bool expand);
  // Writes a pragma that is given as a whole line: "#pragma GCC diagnostic push".
  void keep_line(clang::SourceLocation place, const std::string& line);
  // Reads an XMP directive up to the end of its line and enters it in the unit.
  void take_directive(clang::SourceLocation place);
  void finish();

 private:
  void begin_line(clang::SourceLocation place);
  void put(const clang::Token& token, const std::string& text);
  void begin_token(const clang::Token& token);
  // Called behind the brace of a function whose head ends at `head`: align and shadow of parameters
  // may stand between the two.
  void take_into_body(size_t head);
  // Keeps the statement behind the directive array up to its semicolon, then writes its loops.
  void keep_for_array(const clang::Token& token);
  void print_array();
  bool print_descriptor_of(const clang::Token& word);
  // Whether the next character behind the token and white space is this one; if so, and
  // `twice` is given, whether it comes once more.
  bool is_before(const clang::Token& token, char character, bool* twice = nullptr) const;
  bool opens_image(const clang::Token& colon) const;
  // Read what stands behind the colon of a coarray: codimensions, or an image. Return false if that
  // met the end of the source.
  bool take_codimensions(const clang::Token& colon);
  bool print_image(const clang::Token& colon);
  nagaya::xmp::Token converted(const clang::Token& token);
  Place place_of(clang::SourceLocation location);

  clang::Preprocessor& preprocessor_;
  clang::SourceManager& sources_;
  clang::TokenConcatenation concatenation_;
  Unit& unit_;
  Sections sections_;
  RawDirective array_;  // the directive whose statement is being read
  std::vector<clang::Token> array_statement_;
  int array_depth_ = 0;
  PostfixStart postfix_;
  nagaya::xmp::Token name_;  // the last name outside of brackets: of the declarator
  std::vector<Complaint> complaints_;
  std::string file_;   // of the line that is being written
  unsigned line_ = 0;  // its number; 0: a line marker must come
  bool line_empty_ = true;
  clang::Token previous_, before_previous_;
};

}  // namespace nagaya::xmp
