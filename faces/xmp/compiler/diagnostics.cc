// SPDX-License-Identifier: BSD-3-Clause
#include "diagnostics.h"

#include <cstdio>
#include <fstream>

namespace nagaya::xmp {

std::string written(const Place& place) {
  return std::string(place.file) + ":" + std::to_string(place.line) + ":" +
         std::to_string(place.column);
}

void Diagnostics::error(const Place& place, const std::string& text) {
  ++errors_;
  print(place, "error: xmp: " + text);
}

void Diagnostics::warning(const Place& place, const std::string& text) {
  if (warnings_ == Warnings::kErrors) return error(place, text + " [-Werror]");
  if (warnings_ == Warnings::kShown) print(place, "warning: xmp: " + text);
}

void Diagnostics::plain(const Place& place, const std::string& kind, const std::string& text) {
  if (kind == "error") ++errors_;
  print(place, kind + ": " + text);
}

void Diagnostics::print(const Place& place, const std::string& message) {
  const std::string head = place.line == 0 ? "xmpcc" : written(place);
  const std::string whole = head + ": " + message;
  if (!printed_.insert(whole).second) return;
  messages_.push_back(whole);
  if (quiet_) return;
  std::fprintf(stderr, "%s\n", whole.c_str());
  const std::string* line = line_of(place);
  if (line == nullptr) return;
  // Tabs before the caret stay tabs, so that it stands below its character on any terminal.
  std::string before = line->substr(0, std::min<size_t>(place.column - 1, line->size()));
  for (char& c : before)
    if (c != '\t') c = ' ';
  std::fprintf(stderr, "%5u | %s\n      | %s^\n", place.line, line->c_str(), before.c_str());
}

const std::string* Diagnostics::line_of(const Place& place) {
  if (place.line == 0) return nullptr;
  auto found = files_.find(place.file);
  if (found == files_.end()) {
    std::vector<std::string> lines;
    std::ifstream file{std::string(place.file)};
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    found = files_.emplace(place.file, std::move(lines)).first;
  }
  return place.line <= found->second.size() ? &found->second[place.line - 1] : nullptr;
}

}  // namespace nagaya::xmp
