// SPDX-License-Identifier: BSD-3-Clause
// array_statement.h - writes the directive array and its statement as distributed loops:
//
//   #pragma xmp array on t[:]                  a[0:n] = b[1:n] + 1;
//
//   { const long xmp_elements0 = n; const long xmp_low0 = LOW;
//   #pragma xmp loop (xmp_n0) on t[xmp_n0 + xmp_low0]
//     for (long xmp_n0 = 0; xmp_n0 < xmp_elements0; xmp_n0++) a[(0) + xmp_n0] = b[(1) + xmp_n0] +
//     1;
//     }
//
// So all that loops allow is allowed in it. Section number k of each variable belongs to subscript
// number k of the on clause that is a section, in the order of C; further sections are loops that
// are not distributed. Without subscripts, `on t` stands for t[:][:] with all sections of the left
// side. LOW is nagaya_xmp_low_of() of the template. A base or step that has effects, as f() has, is
// computed once, before the loops.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

class ArrayStatement {
 public:
  // A piece of the translation: a token of the statement, perhaps with other text, or generated
  // text.
  struct Word {
    std::string text;
    size_t token;  // of the statement; kNone: the text is generated
    static constexpr size_t kNone = static_cast<size_t>(-1);
  };

  // `directive`: the tokens behind `xmp`; `statement`: those of the statement, with its semicolon.
  // Throws Complaint.
  ArrayStatement(const std::vector<Token>& directive, const std::vector<Token>& statement);

  // Text in front of the loops; `size` is that of the first dimension of `name`.
  struct Length {
    std::string before, size, after;
    const Token* name = nullptr;
  };
  // Behind it; each `LOW` in it is the name's nagaya_xmp_low_of().
  struct Low {
    std::string variable;
    Token name;  // of the template
    size_t dimension;
  };
  const std::vector<Low>& lows() const { return lows_; }
  const std::vector<Length>& lengths() const { return lengths_; }
  const std::vector<Token>& loop_directive() const { return loop_; }
  const std::string& headers() const { return headers_; }
  const std::vector<Word>& body() const { return body_; }

 private:
  struct Part {
    size_t begin, end;  // tokens
  };
  using Parts = std::vector<Part>;

  // Splits the tokens [begin, end) at `separator` outside of brackets.
  Parts split(const std::vector<Token>& tokens, size_t begin, size_t end,
              const std::string& separator) const;
  std::string text(const std::vector<Token>& tokens, const Part& part) const;
  void rewrite_statement(const std::vector<Token>& statement);
  // Returns the C text of base, length and step; of one that has effects, the variable that has it.
  std::vector<std::string> values(const std::vector<Token>& statement, const Parts& parts);
  // `row`: what is left of the section; `name`: that is this variable alone.
  void take_left_section(const std::vector<std::string>& values, const std::string& row,
                         const Token* name);
  void rewrite_on(const std::vector<Token>& directive);
  void add_subscript(const std::vector<Token>& directive, const Part& subscript, size_t dimension,
                     size_t number);

  std::vector<Low> lows_;
  std::vector<Length> lengths_;
  std::string headers_;
  std::vector<Token> loop_;
  std::vector<Word> body_;
  size_t sections_ = 0;  // of the left side
  size_t saved_ = 0;     // parts of sections that are computed before the loops
  size_t distributed_ = 0;
};

}  // namespace nagaya::xmp
