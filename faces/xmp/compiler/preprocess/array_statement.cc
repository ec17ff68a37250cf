// SPDX-License-Identifier: BSD-3-Clause
#include "preprocess/array_statement.h"

#include <algorithm>
#include <set>

namespace nagaya::xmp {
namespace {

bool opens(const std::string& text) {
  return text == "(" || text == "[" || text == "{";
}
bool closes(const std::string& text) {
  return text == ")" || text == "]" || text == "}";
}

// Returns the index of the token that closes the bracket at `open`, or the number of tokens.
size_t closing(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t at = open; at < tokens.size(); ++at) {
    depth += opens(tokens[at].text) - closes(tokens[at].text);
    if (depth == 0) return at;
  }
  return tokens.size();
}

bool assigns(const std::string& word) {
  static const std::set<std::string> kAssigning = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return kAssigning.count(word) != 0;
}

std::string numbered(const std::string& name, size_t number) {
  return name + std::to_string(number);
}

// Whether computing the tokens [begin, end) may change something: by a call, =, ++ or --.
bool has_effects(const std::vector<Token>& tokens, size_t begin, size_t end) {
  for (size_t at = begin; at < end; ++at) {
    const std::string& word = tokens[at].text;
    if (assigns(word) || word == "++" || word == "--") return true;
    if (word == "(" && at > begin && tokens[at - 1].kind == Token::kIdentifier &&
        tokens[at - 1].text != "sizeof")
      return true;
  }
  return false;
}

// Throws if the statement has a coarray of another image: `:[` outside of brackets.
void refuse_images(const std::vector<Token>& statement) {
  int depth = 0;
  for (size_t at = 0; at + 1 < statement.size(); ++at) {
    const std::string& word = statement[at].text;
    depth += (word == "[") - (word == "]");
    if (depth == 0 && word == ":" && statement[at + 1].text == "[")
      throw Complaint{statement[at].place,
                      "the statement of 'array' cannot have a coarray of another image; copy it to "
                      "a variable before"};
  }
}

}  // namespace

ArrayStatement::ArrayStatement(const std::vector<Token>& directive,
                               const std::vector<Token>& statement) {
  refuse_images(statement);
  rewrite_statement(statement);
  if (sections_ == 0)
    throw Complaint{directive[0].place, "expected an assignment to a section after 'array'"};
  rewrite_on(directive);
  for (size_t n = 0; n < sections_; ++n) {
    const std::string index = numbered("xmp_n", n);
    headers_ += "for (long " + index + " = 0; " + index + " < " + numbered("xmp_elements", n) +
                "; " + index + "++) ";
  }
}

ArrayStatement::Parts ArrayStatement::split(const std::vector<Token>& tokens, size_t begin,
                                            size_t end, const std::string& separator) const {
  Parts parts{{begin, begin}};
  int depth = 0, questions = 0;
  for (size_t at = begin; at < end; ++at) {
    const std::string& text = tokens[at].text;
    depth += opens(text) - closes(text);
    if (depth == 0 && text == "?") ++questions;
    if (depth == 0 && text == separator && (text != ":" || questions-- == 0)) {
      questions = 0;
      parts.push_back({at + 1, at + 1});
    }
    parts.back().end = at + 1;
  }
  // A part ends before the separator behind it.
  for (size_t n = 0; n + 1 < parts.size(); ++n) parts[n].end = parts[n + 1].begin - 1;
  return parts;
}

std::string ArrayStatement::text(const std::vector<Token>& tokens, const Part& part) const {
  std::string text;
  for (size_t at = part.begin; at < part.end; ++at)
    text += (at == part.begin ? "" : " ") + tokens[at].text;
  return text;
}

void ArrayStatement::rewrite_statement(const std::vector<Token>& statement) {
  bool is_left = true;
  size_t number = 0;            // of the next section of the variable that is being read
  std::vector<size_t> outside;  // these numbers of the variables in whose subscripts that one is
  std::string row;              // the left side up to here, with 0 in place of its sections
  for (size_t at = 0; at < statement.size(); ++at) {
    const std::string& word = statement[at].text;
    is_left = is_left && !assigns(word);
    if (word == "[" && (at == 0 || statement[at - 1].text != "]")) number = 0;
    const size_t close = word == "[" ? closing(statement, at) : statement.size();
    const Parts parts = close == statement.size() ? Parts() : split(statement, at + 1, close, ":");
    if (parts.size() < 2) {
      if (word == "[") outside.push_back(number);
      if (word == "]" && !outside.empty()) {
        number = outside.back();
        outside.pop_back();
      }
      body_.push_back({word, at});
      if (is_left) row += word + " ";
      continue;
    }
    if (parts.size() > 3)
      throw Complaint{statement[at].place,
                      "an array section has at most two ':': [base:length:step]"};
    const std::vector<std::string> texts = values(statement, parts);
    if (is_left) {
      take_left_section(texts, row, at == 1 ? &statement[0] : nullptr);
      row += "[0] ";
    } else if (number >= sections_) {
      throw Complaint{statement[at].place,
                      "this variable has more sections than the left side of the assignment"};
    }
    body_.push_back({"[(", at});
    if (texts[0] != text(statement, parts[0]) || texts[0].empty())
      body_.push_back({texts[0].empty() ? "0" : texts[0], Word::kNone});
    else
      for (size_t n = parts[0].begin; n < parts[0].end; ++n)
        body_.push_back({statement[n].text, n});
    body_.push_back({") + " + numbered("xmp_n", number++), Word::kNone});
    if (!texts[2].empty()) body_.push_back({" * (" + texts[2] + ")", Word::kNone});
    body_.push_back({"]", close});
    at = close;
  }
}

std::vector<std::string> ArrayStatement::values(const std::vector<Token>& statement,
                                                const Parts& parts) {
  std::vector<std::string> texts(3);
  for (size_t n = 0; n < parts.size(); ++n) {
    texts[n] = text(statement, parts[n]);
    if (n == 1 || !has_effects(statement, parts[n].begin, parts[n].end)) continue;
    const std::string variable = numbered("xmp_saved_part", saved_++);
    lengths_.push_back({"const long " + variable + " = ", texts[n], "; "});
    texts[n] = variable;
  }
  return texts;
}

void ArrayStatement::take_left_section(const std::vector<std::string>& values,
                                       const std::string& row, const Token* name) {
  const std::string elements = "long " + numbered("xmp_elements", sections_++) + " = ";
  if (!values[1].empty()) return lengths_.push_back({"const " + elements, values[1], "; "});
  // Not const, because Clang would then take the size of a pointer for the loop's bound.
  Length length{"", "(long)(sizeof(" + row + ") / sizeof(" + row + "[0]))", "", name};
  if (name == nullptr)
    length.before = "_Static_assert(!__builtin_types_compatible_p(__typeof__(" + row +
                    "), __typeof__(&(" + row +
                    ")[0])), \"this section needs its length, because the array is a pointer\"); ";
  length.before += elements;
  if (!values[0].empty()) length.after = " - (" + values[0] + ")";
  if (!values[2].empty()) {
    const std::string step = "(" + values[2] + ")";
    length.before += "(";
    length.after += " + " + step + " - 1) / " + step;
  }
  length.after += "; ";
  lengths_.push_back(length);
}

void ArrayStatement::rewrite_on(const std::vector<Token>& directive) {
  // array on t [..][..], array on t (.., ..), array on t
  if (directive.size() < 3 || directive[1].text != "on")
    throw Complaint{directive[0].place, "expected 'on' and a template in 'array'"};
  const auto generated = [&](Token::Kind kind, const std::string& word) {
    loop_.push_back({kind, word, directive[2].place});
  };
  std::vector<Part> subscripts;
  const bool is_reversed = directive.size() > 3 && directive[3].text == "(";
  if (is_reversed) {
    subscripts = split(directive, 4, closing(directive, 3), ",");
  } else {
    for (size_t at = 3; at < directive.size() && directive[at].text == "[";
         at = closing(directive, at) + 1)
      subscripts.push_back({at + 1, closing(directive, at)});
  }
  // The sections of both sides meet as they are written: they have the same shape.
  std::vector<size_t> numbers(subscripts.size(), Word::kNone);
  for (size_t d = 0; d < subscripts.size(); ++d)
    if (split(directive, subscripts[d].begin, subscripts[d].end, ":").size() > 1)
      numbers[d] = distributed_++;
  if (distributed_ > sections_ || (distributed_ == 0 && !subscripts.empty()))
    throw Complaint{directive[2].place, "the on clause has " + std::to_string(distributed_) +
                                            " sections, the left side of the assignment " +
                                            std::to_string(sections_)};
  const size_t whole = subscripts.empty() ? sections_ : 0;  // `on t`
  loop_ = {{Token::kIdentifier, "loop", directive[0].place}};
  generated(Token::kPunctuator, "(");
  for (size_t n = 0; n < std::max(distributed_, whole); ++n) {
    if (n != 0) generated(Token::kPunctuator, ",");
    generated(Token::kIdentifier, numbered("xmp_n", n));
  }
  generated(Token::kPunctuator, ")");
  loop_.insert(loop_.end(), {directive[1], directive[2]});
  for (size_t d = 0; d < subscripts.size(); ++d) {
    generated(Token::kPunctuator, !is_reversed ? "[" : d == 0 ? "(" : ",");
    add_subscript(directive, subscripts[d], is_reversed ? subscripts.size() - 1 - d : d,
                  numbers[d]);
    if (!is_reversed || d + 1 == subscripts.size())
      generated(Token::kPunctuator, is_reversed ? ")" : "]");
  }
  for (size_t d = 0; d < whole; ++d) {
    generated(Token::kPunctuator, "[");
    add_subscript(directive, {directive.size(), directive.size()}, d, d);
    generated(Token::kPunctuator, "]");
  }
  const size_t behind = subscripts.empty()
                            ? 3
                            : closing(directive, is_reversed ? 3 : subscripts.back().begin - 1) + 1;
  loop_.insert(loop_.end(),
               directive.begin() + static_cast<ptrdiff_t>(std::min(behind, directive.size())),
               directive.end());
}

void ArrayStatement::add_subscript(const std::vector<Token>& directive, const Part& subscript,
                                   size_t dimension, size_t number) {
  const auto copy = [&](const Part& part) {
    loop_.insert(loop_.end(), directive.begin() + static_cast<ptrdiff_t>(part.begin),
                 directive.begin() + static_cast<ptrdiff_t>(part.end));
  };
  if (number == Word::kNone) return copy(subscript);
  const Parts parts = split(directive, subscript.begin, subscript.end, ":");
  const Place place = directive[2].place;
  if (parts.size() > 2 && parts[2].end - parts[2].begin != 0 && text(directive, parts[2]) != "1")
    throw Complaint{directive[parts[2].begin].place,
                    "a step in the on clause of 'array' is not supported yet; write a loop"};
  loop_.push_back({Token::kIdentifier, numbered("xmp_n", number), place});
  loop_.push_back({Token::kPunctuator, "+", place});
  if (parts[0].begin == parts[0].end) {
    const std::string low = numbered("xmp_low", lows_.size());
    lows_.push_back({low, directive[2], dimension});
    loop_.push_back({Token::kIdentifier, low, place});
  } else {
    loop_.push_back({Token::kPunctuator, "(", place});
    copy(parts[0]);
    loop_.push_back({Token::kPunctuator, ")", place});
  }
}

}  // namespace nagaya::xmp
