// SPDX-License-Identifier: BSD-3-Clause
// postfix.h - finds where the postfix expression begins that ends with the last token: `a` of
// `a[i].m`. It is given the tokens of a unit one by one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nagaya::xmp {

class PostfixStart {
 public:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // Takes the next token, which stands at `offset`. `is_operand`: a name, a number, a string.
  void see(const std::string& token, bool is_operand, size_t offset);
  // Returns the offset at which the expression begins; kNone: the last token ends none.
  size_t start() const { return start_; }
  // Called when the expression's text was changed, which still begins where it did.
  void replaced(size_t start) { start_ = start; }
  bool in_function() const { return braces_ > 0; }
  bool at_file_scope() const { return outer_.empty(); }

 private:
  std::vector<size_t> outer_;  // for each open bracket, the start of the expression that it is in
  size_t start_ = kNone;
  int braces_ = 0;
  bool is_behind_dot_ = false;
};

}  // namespace nagaya::xmp
