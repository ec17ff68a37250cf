// SPDX-License-Identifier: BSD-3-Clause
#include "preprocess/unsupported.h"

#include <cctype>

namespace nagaya::xmp {
namespace {

const std::set<std::string> kFunctions = {
    "xmp_atomic_define", "xmp_atomic_ref",  "xmp_sync_all",       "xmp_sync_image",
    "xmp_sync_images",   "xmp_sync_memory", "xmp_sync_images_all"};
// Words behind which a function's name is a use; behind any other word it is a declaration.
const std::set<std::string> kBeforeAUse = {"return", "else", "do", "case", "sizeof"};

bool is_word(const std::string& token) {
  return !token.empty() &&
         (std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_');
}

}  // namespace

void UnsupportedSyntax::see(const std::string& token, const Place& place, bool ignores_colons) {
  const bool is_bracket = token == "[" || token == "<:";
  if (may_be_coarray_ && !is_bracket)  // `:[[` is an attribute behind a label
    complain(colon_, "coarrays are not supported yet");
  may_be_coarray_ = is_bracket && previous_ == ":" && !ignores_colons;
  if (token == "{" && previous_ == ")" && !declared_.empty()) defined_.insert(declared_);
  if (token == ";" || token == "{") declared_.clear();
  if (token == ":") colon_ = place;
  if (kFunctions.count(token) != 0) see_name(token, place);
  if (token == "xmp_lock_t") complain(place, "'xmp_lock_t' is not supported yet");
  previous_ = token;
}

void UnsupportedSyntax::see_name(const std::string& name, const Place& place) {
  const bool is_declared =
      previous_ == "*" || (is_word(previous_) && kBeforeAUse.count(previous_) == 0);
  if (is_declared) {
    declared_ = name;
    return;
  }
  names_.push_back({name, place});
}

void UnsupportedSyntax::complain(const Place& place, const std::string& text) {
  if (texts_.insert(text).second) complaints_.push_back({place, text});
}

std::vector<Complaint> UnsupportedSyntax::found() const {
  std::vector<Complaint> all = complaints_;
  std::set<std::string> told;
  for (const Name& used : names_)
    if (defined_.count(used.name) == 0 && told.insert(used.name).second)
      all.push_back({used.place, "the function '" + used.name + "' is not supported yet"});
  return all;
}

}  // namespace nagaya::xmp
