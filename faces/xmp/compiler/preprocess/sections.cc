// SPDX-License-Identifier: BSD-3-Clause
#include "preprocess/sections.h"

#include <algorithm>
#include <map>
#include <set>

namespace nagaya::xmp {
namespace {

const std::set<std::string> kAsm = {"asm", "__asm", "__asm__"};
const std::map<std::string, std::string> kDigraphs = {
    {"<:", "["}, {":>", "]"}, {"<%", "{"}, {"%>", "}"}};
constexpr size_t kPartsMax = 3;

}  // namespace

std::string Sections::see(const std::string& token, const Place& place) {
  const auto digraph = kDigraphs.find(token);
  std::string text = digraph != kDigraphs.end() ? digraph->second : token;
  const std::string word = text;
  if (word == "(" || word == "[" || word == "{") {
    open(word);
  } else if (word == ")" || word == "]" || word == "}") {
    text = close(word);
  } else if (word == "?" && !open_.empty()) {
    ++open_.back().questions;
  } else if (word == ":") {
    text = colon(place);
  } else if (word == "," && !open_.empty() && !open_.back().comma) {
    open_.back().comma = place;
  } else if (kAsm.count(word) != 0) {
    is_asm_next_ = true;
  }
  previous_ = word;
  return text;
}

void Sections::open(const std::string& bracket) {
  Bracket opened{bracket, unit_.printed.size()};
  opened.part_begin = opened.offset + 1;
  const bool in_asm = ignores_colons() && open_.back().open == "(";
  opened.ignores_colons = in_asm || (bracket == "(" && is_asm_next_);
  if (bracket == "[" && previous_ == "[" && !open_.empty())
    open_.back().ignores_colons = opened.ignores_colons = true;
  if (bracket == "(") is_asm_next_ = false;
  open_.push_back(opened);
}

std::string Sections::close(const std::string& bracket) {
  if (open_.empty()) return bracket;
  std::string omitted;
  if (!open_.back().parts.empty()) {
    omitted = end_part();
    if (open_.back().comma)
      complaints_.push_back({*open_.back().comma,
                             "an array section is [base:length:step]; write a "
                             "',' in it in parentheses"});
    std::vector<Range> parts = open_.back().parts;
    const bool has_two_colons = parts.size() == kPartsMax;
    parts.resize(kPartsMax);
    unit_.sections.push_back({open_.back().offset, parts[0], parts[1], parts[2], has_two_colons});
  }
  open_.pop_back();
  return omitted + bracket;
}

std::string Sections::colon(const Place& place) {
  if (open_.empty() || open_.back().open != "[" || open_.back().ignores_colons) return ":";
  if (open_.back().questions > 0) {
    --open_.back().questions;
    return ":";
  }
  if (!in_function())
    complaints_.push_back({place, "an array section stands only in a statement"});
  else if (open_.back().parts.size() + 1 == kPartsMax)
    complaints_.push_back({place, "an array section has at most two ':': [base:length:step]"});
  const std::string omitted = end_part();
  open_.back().part_begin = unit_.printed.size() + omitted.size() + 1;
  return omitted + ",";
}

std::string Sections::end_part() {
  Bracket& bracket = open_.back();
  const bool is_omitted = previous_ == "[" || (previous_ == ":" && !bracket.parts.empty());
  bracket.parts.push_back(is_omitted ? Range{} : Range{bracket.part_begin, unit_.printed.size()});
  if (!is_omitted) return "";
  return bracket.parts.size() == kPartsMax ? "1" : "0";
}

bool Sections::in_function() const {
  return std::ranges::any_of(open_, [](const Bracket& one) { return one.open == "{"; });
}

}  // namespace nagaya::xmp
