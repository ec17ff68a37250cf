// SPDX-License-Identifier: BSD-3-Clause
#include "preprocess/postfix.h"

namespace nagaya::xmp {

void PostfixStart::see(const std::string& token, bool is_operand, size_t offset) {
  const bool was_behind_dot = is_behind_dot_;
  is_behind_dot_ = token == "." || token == "->";
  if (is_behind_dot_) return;
  if (is_operand) {
    if (!was_behind_dot) start_ = offset;
  } else if (token == "(" || token == "[" || token == "<:" || token == "{" || token == "<%") {
    const bool is_brace = token == "{" || token == "<%";
    braces_ += is_brace;
    outer_.push_back(is_brace ? kNone : start_ == kNone ? offset : start_);
    start_ = kNone;
  } else if (token == ")" || token == "]" || token == ":>" || token == "}" || token == "%>") {
    braces_ -= token == "}" || token == "%>";
    start_ = outer_.empty() ? kNone : outer_.back();
    if (!outer_.empty()) outer_.pop_back();
  } else {
    start_ = kNone;
  }
}

}  // namespace nagaya::xmp
