// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/edits.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace nagaya::xmp {

size_t before_loop_pragmas(const Unit& unit, size_t offset) {
  const std::string& text = unit.printed.text();
  for (auto pragma = unit.pragmas.rbegin(); pragma != unit.pragmas.rend(); ++pragma) {
    if (pragma->begin >= offset) continue;
    // Whether only empty lines and line markers are between the pragma and what was found so far.
    bool adjacent = true;
    for (size_t at = pragma->end; at < offset && adjacent; ++at) {
      if (text[at] == '#')
        at = std::min(text.find('\n', at), offset);
      else
        adjacent = std::isspace(static_cast<unsigned char>(text[at])) != 0;
    }
    if (!adjacent || !pragma->of_a_loop) break;
    offset = pragma->begin;
  }
  return offset;
}

void Edits::replace(const Range& range, std::string text) {
  edits_.push_back({range.begin, range.end - range.begin, 2, edits_.size(), 0, std::move(text)});
}

void Edits::insert(size_t offset, std::string text) {
  edits_.push_back({offset, 0, 1, edits_.size(), 0, std::move(text)});
}

void Edits::close(size_t offset, size_t construct_begin, std::string text) {
  // A construct that begins later is the inner one, so it gets the lower order.
  edits_.push_back({offset, 0, 0, kNone - construct_begin, edits_.size(), std::move(text)});
}

void Edits::insert_line(const PrintedText& printed, size_t offset, const Place& line,
                        const std::string& text) {
  const bool at_line_start = offset == 0 || printed.text()[offset - 1] == '\n';
  const Place after = printed.place(at_line_start ? offset : offset - 1);
  insert(offset, (at_line_start ? "" : "\n") + printed.line_marker(line) + text + "\n" +
                     (after.line != 0 ? printed.line_marker(after) : ""));
}

std::string Edits::apply(const std::string& text) {
  std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
    // The widest of several replacements at one offset comes first; the others are dropped.
    return std::tie(a.offset, a.rank, b.length, a.order, b.call) <
           std::tie(b.offset, b.rank, a.length, b.order, a.call);
  });
  std::string result;
  size_t at = 0;
  for (const Edit& edit : edits_) {
    if (edit.offset < at) continue;  // in a range that was replaced
    if (edit.offset > at) {
      result.append(text, at, edit.offset - at);
      at = edit.offset;
    }
    result += edit.text;
    at = edit.offset + edit.length;
  }
  return result.append(text, at, std::string::npos);
}

}  // namespace nagaya::xmp
