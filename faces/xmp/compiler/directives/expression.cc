// SPDX-License-Identifier: BSD-3-Clause
#include "directives/expression.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>

#include "diagnostics.h"

namespace nagaya::xmp {
namespace {

using Value = std::optional<long>;

// Deepest nesting of an expression: more than programs have, less than the stack allows.
constexpr int kNestingMax = 200;

const std::map<std::string, int> kPrecedence = {
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};

// Converts the result of unsigned arithmetic, in which an overflow is defined behaviour.
long wrapped(unsigned long value) {
  return static_cast<long>(value);
}

Value binary(const std::string& op, Value left, Value right) {
  if (!left || !right) return std::nullopt;
  const long a = *left, b = *right;
  const auto ua = static_cast<unsigned long>(a), ub = static_cast<unsigned long>(b);
  if (op == "+") return wrapped(ua + ub);
  if (op == "-") return wrapped(ua - ub);
  if (op == "*") return wrapped(ua * ub);
  if (op == "/" || op == "%") {
    if (b == 0 || b == -1) return b == 0 ? Value() : op == "/" ? wrapped(-ua) : 0;
    return op == "/" ? a / b : a % b;
  }
  if (op == "<<" || op == ">>") {
    if (b < 0 || b > 63) return std::nullopt;
    return op == "<<" ? wrapped(ua << b) : a >> b;
  }
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&&") return a && b;
  return a || b;
}

class Parser {
 public:
  // Without `constant_of` no name is a constant.
  Parser(const std::vector<Token>& tokens, size_t first, const Place& end,
         const ConstantOf& constant_of = {})
      : tokens_(tokens), at_(first), end_(end), constant_of_(constant_of) {}

  size_t at() const { return at_; }
  std::vector<const Token*>& names() { return names_; }

  Value conditional() {
    const Deeper deeper(*this);
    const Value condition = operators(1);
    if (!accept("?")) return condition;
    const Value yes = conditional();
    expect(":");
    const Value no = conditional();
    return !condition ? std::nullopt : *condition ? yes : no;
  }

 private:
  struct Deeper {
    explicit Deeper(Parser& parser) : parser(parser) {
      if (++parser.depth_ > kNestingMax) parser.complain("the expression is nested too deeply");
    }
    ~Deeper() { --parser.depth_; }
    Parser& parser;
  };

  [[noreturn]] void complain(const std::string& text) const {
    throw Complaint{at_ < tokens_.size() ? tokens_[at_].place : end_, text};
  }

  bool is(const char* text) const { return at_ < tokens_.size() && tokens_[at_].text == text; }

  bool accept(const char* text) {
    if (!is(text) || tokens_[at_].kind != Token::kPunctuator) return false;
    ++at_;
    return true;
  }

  void expect(const char* text) {
    if (!accept(text)) complain("expected '" + std::string(text) + "' in the expression");
  }

  Value operators(int lowest) {
    const Deeper deeper(*this);
    Value left = unary();
    while (at_ < tokens_.size() && tokens_[at_].kind == Token::kPunctuator) {
      const auto found = kPrecedence.find(tokens_[at_].text);
      if (found == kPrecedence.end() || found->second < lowest) break;
      const std::string op = tokens_[at_++].text;
      left = binary(op, left, operators(found->second + 1));
    }
    return left;
  }

  Value unary() {
    const Deeper deeper(*this);
    for (const char* op : {"-", "+", "!", "~", "*", "&"})
      if (accept(op)) return of_unary(op[0], unary());
    if (is("sizeof") || is("_Alignof")) {
      ++at_;
      if (is("("))
        skip_brackets();
      else
        unary();
      return std::nullopt;
    }
    if (is("(") && cast_ahead()) {
      skip_brackets();
      unary();
      return std::nullopt;  // a type may narrow
    }
    return postfix();
  }

  static Value of_unary(char op, Value value) {
    if (!value || op == '*' || op == '&') return std::nullopt;
    if (op == '-') return wrapped(-static_cast<unsigned long>(*value));
    if (op == '!') return !*value;
    return op == '~' ? ~*value : *value;
  }

  bool cast_ahead() const {
    static const std::array kTypes = {"char",     "short",    "int",     "long",    "unsigned",
                                      "signed",   "float",    "double",  "const",   "struct",
                                      "size_t",   "_Bool",    "int64_t", "int32_t", "uint64_t",
                                      "uint32_t", "ptrdiff_t"};
    return at_ + 1 < tokens_.size() && std::ranges::count(kTypes, tokens_[at_ + 1].text) != 0;
  }

  // Skips from the opening bracket here to behind its closing bracket.
  void skip_brackets() {
    int depth = 0;
    do {
      if (at_ >= tokens_.size()) complain("a bracket of the expression is not closed");
      depth += is("(") - is(")");
      ++at_;
    } while (depth > 0);
  }

  Value postfix() {
    Value value = primary();
    while (true) {
      if (accept("[")) {
        conditional();
        expect("]");
      } else if (accept("(")) {
        if (!accept(")")) {
          do conditional();
          while (accept(","));
          expect(")");
        }
      } else if (accept(".") || accept("->")) {
        if (at_ >= tokens_.size() || tokens_[at_].kind != Token::kIdentifier)
          complain("expected the name of a member");
        ++at_;
      } else {
        return value;
      }
      value = std::nullopt;
    }
  }

  Value primary() {
    if (accept("(")) {
      const Value value = conditional();
      expect(")");
      return value;
    }
    if (at_ >= tokens_.size()) complain("expected an expression");
    const Token& token = tokens_[at_];
    if (token.kind == Token::kPunctuator)
      complain("expected an expression before '" + token.text + "'");
    ++at_;
    if (token.kind == Token::kIdentifier) {
      names_.push_back(&token);
      return constant_of_ ? constant_of_(token.text) : std::nullopt;
    }
    return token.kind == Token::kNumber ? number(token) : std::nullopt;
  }

  static Value number(const Token& token) {
    const char* const text = token.text.c_str();
    const bool is_binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    char* end = nullptr;
    const unsigned long value = std::strtoul(is_binary ? text + 2 : text, &end, is_binary ? 2 : 0);
    if (is_made_of(end, "uUlL")) return wrapped(value);
    std::strtod(text, &end);
    if (token.text.find_first_of(".eEpP") == std::string::npos || !is_made_of(end, "fFlL"))
      throw Complaint{token.place, "'" + token.text + "' is no number"};
    return std::nullopt;
  }

  static bool is_made_of(const char* text, const char* letters) {
    return text[std::strspn(text, letters)] == '\0';
  }

  const std::vector<Token>& tokens_;
  size_t at_;
  Place end_;
  const ConstantOf constant_of_;
  std::vector<const Token*> names_;
  int depth_ = 0;
};

}  // namespace

std::string Expression::text() const {
  std::string text;
  for (const Token& token : tokens) text += (text.empty() ? "" : " ") + token.text;
  return text;
}

size_t end_of_expression(const std::vector<Token>& tokens, size_t first, const Place& end) {
  Parser parser(tokens, first, end);
  parser.conditional();
  return parser.at();
}

bool is_sum(const Expression& expression) {
  static constexpr std::array kLoose = {"<", ">", "<=", ">=", "==", "!=", "&",
                                        "|", "^", "&&", "||", "?",  "<<", ">>"};
  int depth = 0;
  for (const Token& token : expression.tokens) {
    depth += (token.text == "(" || token.text == "[") - (token.text == ")" || token.text == "]");
    if (depth == 0 && std::ranges::count(kLoose, token.text) != 0) return false;
  }
  return true;
}

std::optional<long> constant_value(const Expression& expression, const ConstantOf& constant_of) {
  return Parser(expression.tokens, 0, expression.place(), constant_of).conditional();
}

std::vector<const Token*> names_in(const Expression& expression) {
  Parser parser(expression.tokens, 0, expression.place());
  parser.conditional();
  return parser.names();
}

}  // namespace nagaya::xmp
