// SPDX-License-Identifier: BSD-3-Clause
#include "checks/on_index.h"

#include <algorithm>

#include "checks/names.h"
#include "diagnostics.h"
#include "directives/expression.h"

namespace nagaya::xmp {
namespace {

bool mentions(const Expression& expression, const std::string& index) {
  return std::any_of(expression.tokens.begin(), expression.tokens.end(), [&](const Token& token) {
    return token.kind == Token::kIdentifier && token.text == index;
  });
}

}  // namespace

bool mentions(const Subscript& subscript, const std::string& index) {
  for (const Bound* bound : {&subscript.low, &subscript.high, &subscript.step})
    for (const Expression& expression : bound->expressions)
      if (mentions(expression, index)) return true;
  return false;
}

std::optional<std::string> offset_from_index(const Subscript& subscript, const std::string& index) {
  if (!subscript.index) return std::nullopt;
  const std::vector<Token>& tokens = subscript.index->tokens;
  if (tokens.front().text == index) {
    if (tokens.size() == 1) return "0";
    const std::string& sign = tokens[1].text;
    if (sign != "+" && sign != "-") return std::nullopt;
    // In i - a + b the minus applies to a alone. 0L makes the sum a long even if a is unsigned.
    const Expression rest{{tokens.begin() + 1, tokens.end()}};
    if (mentions(rest, index) || !is_sum(rest)) return std::nullopt;
    return "0L " + rest.text();
  }
  if (tokens.size() > 2 && tokens.back().text == index && tokens[tokens.size() - 2].text == "+") {
    const Expression rest{{tokens.begin(), tokens.end() - 2}};
    if (!mentions(rest, index) && is_sum(rest)) return "(long)(" + rest.text() + ")";
  }
  return std::nullopt;
}

void resolve_on_of_loop(Program& program, const Reference& on, size_t offset,
                        const std::function<bool(const std::string&)>& is_index) {
  // resolve() checks only the subscripts without an index; offset_from_index() checks the others.
  Reference without = on;
  for (Subscript& subscript : without.subscripts) {
    bool has_index = false;
    for (const Bound* bound : {&subscript.low, &subscript.high, &subscript.step})
      for (const Expression& expression : bound->expressions)
        for (const Token* name : names_in(expression))
          has_index = has_index || is_index(name->text);
    if (!has_index) continue;
    for (const Token& token : subscript.index ? subscript.index->tokens : std::vector<Token>())
      if (token.kind == Token::kIdentifier && !is_index(token.text))
        check_expression(program, {{token}}, offset);
    subscript.low.expressions.clear();
    subscript.high.expressions.clear();
  }
  resolve(program, without, offset);
  program.references[&on] = program.references[&without];
  program.references.erase(&without);
}

}  // namespace nagaya::xmp
