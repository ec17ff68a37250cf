// SPDX-License-Identifier: BSD-3-Clause
// cursor.h - reads the tokens of a directive from left to right, and the parts that many directives
// have: names, expressions, bracketed lists, references to nodes and templates.
#pragma once

#include <algorithm>
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
  // The place of the next token; at the end, the place behind the last one.
  Place place() const { return at_end() ? end_ : tokens_[at_].place; }
  std::string next_text() const { return at_end() ? "" : tokens_[at_].text; }
  // Whether the token `ahead` places behind the next one is `text`.
  bool is(const char* text, size_t ahead = 0) const;
  // Skips the next token and returns true if it is `text`.
  bool accept(const char* text);
  // Skips the next token, which must be `text`. `context`, for the message: "after 'onto'".
  void expect(const char* text, const std::string& context);
  Token identifier(const std::string& meaning);
  // Returns the next token if it is a name, else nullptr; skips nothing.
  const Token* name() const;
  Expression expression();
  [[noreturn]] void complain(const std::string& text) const { throw Complaint{place(), text}; }
  // Checks that the directive ends here; throws Complaint about any further clause.
  void finish(const std::string& directive);

  // Reads (e, e, ...) or [e][e]... and returns the values of element(), which reads each e. They
  // are in the order of C: in parentheses the last element is its first dimension.
  template <typename Element>
  auto dimensions(const std::string& meaning, Element element) {
    const bool brackets = is("[");
    std::vector<decltype(element())> all;
    read_dimensions(meaning, [&] { all.push_back(element()); });
    if (!brackets) std::reverse(all.begin(), all.end());
    return all;
  }
  bool opens_dimensions() const { return is("(") || is("["); }
  // Skips a `*` that is a whole dimension: another token than an expression follows it.
  bool accept_star();
  // Reads `e, e ...` up to a token that is no comma and calls `element` to read each e.
  void list(const std::function<void()>& element);
  // Reads `(e, e ...)`. `opening` and `closing`, for messages: "after 'width'", "after the widths".
  void parenthesised_list(const std::string& opening, const std::string& closing,
                          const std::function<void()>& element);

  Reference reference();
  // Reads "(expression)" behind the word async.
  std::optional<Expression> async_number();
  DataReference data_reference();

 private:
  void read_dimensions(const std::string& meaning, const std::function<void()>& element);
  Subscript subscript(bool brackets);
  void range_of(Subscript& subscript, bool brackets, const std::optional<Expression>& first);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Place end_;
};

Bound bound_of(const Expression& expression);

}  // namespace nagaya::xmp
