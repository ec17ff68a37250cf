// SPDX-License-Identifier: BSD-3-Clause
// stop_choice.h - reads from NAGAYA_STOP_AT at which stop point this process stops itself.
#pragma once

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "task/load/freestanding/stop_point.h"

namespace nagaya::task {

// Parses "lane.marked", or "lane.marked:500" for the 500th passage. Returns nullopt if `text` names
// no stop point.
inline std::optional<StopChoice> parse_stop_choice(std::string_view text) {
  const size_t colon = text.find(':');
  uint32_t passages = 1;
  if (colon != text.npos) {
    const auto [end, error] = std::from_chars(text.data() + colon + 1, text.end(), passages);
    if (error != std::errc() || end != text.end() || passages == 0) return std::nullopt;
  }
  for (size_t n = 0; n < std::size(kStopPointNames); ++n)
    if (text.substr(0, colon) == kStopPointNames[n])
      return StopChoice{static_cast<StopPoint>(n), passages};
  return std::nullopt;
}

// Returns false when NAGAYA_STOP_AT is set and names no stop point.
inline bool choose_stop_point_of_environment() {
  const char* const text = std::getenv("NAGAYA_STOP_AT");
  if (text == nullptr || *text == '\0') return true;
  const std::optional<StopChoice> choice = parse_stop_choice(text);
  if (choice) choose_stop_point(*choice);
  return choice.has_value();
}

// Initialised once in each copy of the library, when it is loaded. (The host has no environment:
// its starter sends it the choice.)
inline const bool stop_choice_is_good = choose_stop_point_of_environment();

}  // namespace nagaya::task
