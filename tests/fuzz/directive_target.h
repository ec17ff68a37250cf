// SPDX-License-Identifier: BSD-3-Clause
// directive_target.h - any tokens behind `#pragma xmp`.
#pragma once

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "directives/expression.h"
#include "directives/parser.h"

namespace nagaya::fuzz {

// One token a word, a number or a character: enough to reach all of the parser.
inline xmp::RawDirective tokens_of(const uint8_t* data, size_t bytes) {
  xmp::RawDirective raw{0, {"fuzz.c", 1, 9}, {}};
  for (size_t at = 0; at < bytes;) {
    const auto is_word = [&](size_t i) {
      return i < bytes && (std::isalnum(data[i]) != 0 || data[i] == '_');
    };
    size_t end = at + 1;
    if (is_word(at))
      while (is_word(end)) ++end;
    const std::string text(reinterpret_cast<const char*>(data) + at, end - at);
    const xmp::Place place{"fuzz.c", 1, static_cast<unsigned>(at + 13)};
    if (std::isspace(data[at]) == 0)
      raw.tokens.push_back({std::isdigit(data[at]) != 0 ? xmp::Token::kNumber
                            : is_word(at)               ? xmp::Token::kIdentifier
                                                        : xmp::Token::kPunctuator,
                            text, place});
    at = end;
  }
  return raw;
}

inline void parse_any_directive(const uint8_t* data, size_t bytes) {
  try {
    for (const xmp::Directive& directive : xmp::parse_directive(tokens_of(data, bytes)))
      if (const auto* nodes = std::get_if<xmp::NodesDirective>(&directive.body))
        for (const xmp::NodesExtent& extent : nodes->extents)
          if (extent.value) xmp::constant_value(*extent.value, [](const auto&) { return 7; });
  } catch (const xmp::Complaint& complaint) {
    // It has a place on the directive's line, and says something.
    if (complaint.place.line != 1 || complaint.text.empty()) std::abort();
  }
}

}  // namespace nagaya::fuzz
