// SPDX-License-Identifier: BSD-3-Clause
// cursor.h - reads the tokens of a directive from left to right, and the parts that many directives
// have: names, expressions, bracketed lists, references to nodes and templates.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "directives/tree.h"

namespace nagaya::xmp {

class Cursor {
 public:
  explicit Cursor(const RawDirective& raw);

  bool at_end() const { return at_ == tokens_.size(); }
  // Of the next token, or behind the last one.
  Place place() const { return at_end() ? end_ : tokens_[at_].place; }
  std::string next_text() const { return at_end() ? "" : tokens_[at_].text; }
  bool is(const char* text, size_t ahead = 0) const;
  bool accept(const char* text);
  // `context` says where: "after 'onto'".
  void expect(const char* text, const std::string& context);
  Token identifier(const std::string& meaning);
  // The next token, if it is a name; nullptr else.
  const Token* name() const;
  Expression expression();
  [[noreturn]] void complain(const std::string& text) const { throw Complaint{place(), text}; }
  // The end of the directive; anything else is a clause that it does not have.
  void finish(const std::string& directive);

  // (e, e, ...) or [e][e]...: calls `element` for each. Returns whether they were brackets.
  // In parentheses the last element is the first dimension of C: the caller turns them round.
  bool dimensions(const std::string& meaning, const std::function<void()>& element);
  bool opens_dimensions() const { return is("(") || is("["); }
  // name, name ... up to a token that is no comma.
  std::vector<Token> names(const std::string& meaning);
  // "(" names ")"
  std::vector<Token> parenthesised_names(const std::string& meaning);

  Reference reference();
  std::optional<Expression> async_number();  // (expression), behind the word async
  DataReference data_reference();

 private:
  Subscript subscript(bool brackets);
  void range_of(Subscript& subscript, bool brackets, const std::optional<Expression>& first);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Place end_;
};

Bound bound_of(const Expression& expression);

}  // namespace nagaya::xmp
