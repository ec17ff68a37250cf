// SPDX-License-Identifier: BSD-3-Clause
#include "preprocess/unit.h"

#include <algorithm>

namespace nagaya::xmp {

uint32_t PrintedText::number_of(const std::string& file) {
  // Searches from the last file on: consecutive tokens mostly come from one file.
  for (size_t i = files_.size(); i-- > 0;)
    if (files_[i] == file) return static_cast<uint32_t>(i);
  files_.push_back(file);
  return static_cast<uint32_t>(files_.size() - 1);
}

std::string_view PrintedText::keep(const std::string& file) {
  return files_[number_of(file)];
}

void PrintedText::mark(const std::string& file, unsigned line, unsigned column,
                       bool system_header) {
  marks_.push_back(
      {static_cast<uint32_t>(text_.size()), number_of(file), line, column, system_header});
}

void PrintedText::insert(size_t offset, const std::string& text) {
  text_.insert(offset, text);
  for (size_t i = marks_.size(); i-- > 0 && marks_[i].offset > offset;)
    marks_[i].offset += static_cast<uint32_t>(text.size());
}

void Unit::insert(size_t offset, const std::string& text) {
  printed.insert(offset, text);
  const auto move = [&](Range& range) {
    if (range.begin < offset || range.is_empty()) return;
    range.begin += text.size();
    range.end += text.size();
  };
  const auto move_all = [&](auto& places) {
    for (auto& one : places)
      if (one.begin >= offset) one.begin += text.size(), one.end += text.size();
  };
  move_all(descriptors);
  move_all(lengths);
  for (Section& one : sections) {
    if (one.open < offset) continue;
    one.open += text.size();
    for (Range* part : {&one.base, &one.length, &one.step}) move(*part);
  }
  for (Coindex& one : coindexes) {
    move(one.whole);
    move(one.local);
    for (Range& image : one.images) move(image);
  }
}

const PrintedText::Mark* PrintedText::mark_of(size_t offset) const {
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), offset,
                                      [](size_t o, const Mark& mark) { return o < mark.offset; });
  return after == marks_.begin() ? nullptr : &*(after - 1);
}

Place PrintedText::place(size_t offset) const {
  const Mark* mark = mark_of(offset);
  if (mark == nullptr) return {};
  return {files_[mark->file], mark->line, mark->column};
}

bool PrintedText::in_system_header(size_t offset) const {
  const Mark* mark = mark_of(offset);
  return mark != nullptr && mark->system_header;
}

std::string PrintedText::line_marker(const Place& place) const {
  std::string escaped;
  for (const char c : place.file) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return "# " + std::to_string(place.line) + " \"" + escaped + "\"\n";
}

}  // namespace nagaya::xmp
