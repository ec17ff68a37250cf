// SPDX-License-Identifier: BSD-3-Clause
#include "directives/cursor.h"

#include "directives/expression.h"

namespace nagaya::xmp {
namespace {

// C text for an omitted end of a section (LONG_MIN, LONG_MAX): the runtime fills in the bounds.
const char* const kOpenLow = "(-0x7fffffffffffffffL - 1)";
const char* const kOpenHigh = "0x7fffffffffffffffL";

}  // namespace

Bound bound_of(const Expression& expression) {
  return {expression.text(), {expression}};
}

Cursor::Cursor(const RawDirective& raw) {
  for (const Token& token : raw.tokens) {
    // Splits `::` into two colons (`t[::2]`, `... :: a`): not every lexer mode makes one token of
    // it.
    const bool two_colons = token.text == "::";
    tokens_.push_back(token);
    if (!two_colons) continue;
    tokens_.back().text = ":";
    tokens_.push_back(tokens_.back());
  }
  end_ = raw.pragma;
  if (tokens_.empty()) {
    end_.column += 3;
  } else {
    end_ = tokens_.back().place;
    end_.column += static_cast<unsigned>(tokens_.back().text.size());
  }
}

bool Cursor::is(const char* text, size_t ahead) const {
  return at_ + ahead < tokens_.size() && tokens_[at_ + ahead].text == text;
}

bool Cursor::accept(const char* text) {
  if (!is(text)) return false;
  ++at_;
  return true;
}

void Cursor::expect(const char* text, const std::string& context) {
  if (accept(text)) return;
  complain("expected '" + std::string(text) + "' " + context +
           (at_end() ? "" : ", found '" + tokens_[at_].text + "'"));
}

const Token* Cursor::name() const {
  return !at_end() && tokens_[at_].kind == Token::kIdentifier ? &tokens_[at_] : nullptr;
}

Token Cursor::identifier(const std::string& meaning) {
  const Token* token = name();
  if (token == nullptr)
    complain("expected " + meaning + (at_end() ? "" : ", found '" + tokens_[at_].text + "'"));
  ++at_;
  return *token;
}

Expression Cursor::expression() {
  const size_t end = end_of_expression(tokens_, at_, end_);
  Expression found{
      {tokens_.begin() + static_cast<long>(at_), tokens_.begin() + static_cast<long>(end)}};
  at_ = end;
  return found;
}

void Cursor::finish(const std::string& directive) {
  if (at_end()) return;
  if (name() != nullptr)
    complain("unknown clause '" + tokens_[at_].text + "' of directive '" + directive + "'");
  complain("'" + tokens_[at_].text + "' does not belong to the directive '" + directive + "'");
}

void Cursor::list(const std::function<void()>& element) {
  do element();
  while (accept(","));
}

void Cursor::parenthesised_list(const std::string& opening, const std::string& closing,
                                const std::function<void()>& element) {
  expect("(", opening);
  list(element);
  expect(")", closing);
}

void Cursor::read_dimensions(const std::string& meaning, const std::function<void()>& element) {
  if (is("(")) return parenthesised_list("", "after " + meaning, element);
  if (!is("[")) complain("expected '(' or '[' and " + meaning);
  while (accept("[")) {
    element();
    expect("]", "after " + meaning);
  }
}

bool Cursor::accept_star() {
  return is("*") && (is(")", 1) || is("]", 1) || is(",", 1)) && accept("*");
}

std::optional<Expression> Cursor::async_number() {
  expect("(", "after 'async'");
  Expression number = expression();
  expect(")", "after the number of 'async'");
  return number;
}

DataReference Cursor::data_reference() {
  DataReference data{identifier("the name of a variable"), {}, {}, {}};
  bool has_whole = false;  // [:] was read; only [:] may follow, or the data are not contiguous
  while (accept("[")) {
    if (is(":") && is("]", 1) && accept(":") && accept("]")) {
      has_whole = true;
      continue;
    }
    if (has_whole) complain("behind [:] there may only be [:]; other parts are not contiguous");
    if (data.length) complain("only one subscript may be a section, and [:] behind it");
    if (is(":")) complain("a section needs its base and its length here: [base:length]");
    Expression first = expression();
    if (accept(":")) {
      if (is("]")) complain("a section needs its length here: [base:length]");
      data.base = std::move(first);
      data.length = expression();
      if (is(":")) complain("a section with a step is not supported yet");
    } else {
      data.indexes.push_back(std::move(first));
    }
    expect("]", "after the subscript");
  }
  return data;
}

void Cursor::range_of(Subscript& subscript, bool brackets, const std::optional<Expression>& first) {
  subscript.kind = Subscript::kRange;
  std::optional<Expression> second;
  if (!is(":") && !is(")") && !is("]") && !is(",")) second = expression();
  if (accept(":")) subscript.step = bound_of(expression());
  if (!first && !second && subscript.step.text.empty()) {
    subscript.kind = Subscript::kAll;
    return;
  }
  const bool from_zero = brackets && !first && second;
  subscript.low = first ? bound_of(*first) : Bound{from_zero ? "0" : kOpenLow, {}};
  subscript.high = second ? bound_of(*second) : Bound{kOpenHigh, {}};
  subscript.has_length = brackets && second;
  if (subscript.step.text.empty()) subscript.step.text = "1";
}

Subscript Cursor::subscript(bool brackets) {
  Subscript subscript;
  subscript.place = place();
  if (accept_star()) {
    subscript.kind = Subscript::kStar;
    return subscript;
  }
  std::optional<Expression> first;
  if (!is(":")) first = expression();
  if (accept(":")) {
    range_of(subscript, brackets, first);
    return subscript;
  }
  subscript.kind = Subscript::kRange;
  subscript.single = true;
  subscript.low = subscript.high = bound_of(*first);
  subscript.step.text = "1";
  subscript.index = std::move(first);
  return subscript;
}

Reference Cursor::reference() {
  Reference reference;
  if (is("*")) {
    reference.name = tokens_[at_++];
    reference.executing = true;
    return reference;
  }
  reference.name = identifier("the name of nodes or of a template");
  if (!opens_dimensions()) return reference;
  reference.brackets = is("[");
  reference.subscripts = dimensions("the subscripts of '" + reference.name.text + "'",
                                    [&] { return subscript(reference.brackets); });
  return reference;
}

}  // namespace nagaya::xmp
