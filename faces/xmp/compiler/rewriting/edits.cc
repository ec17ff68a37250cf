// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/edits.h"

#include <algorithm>
#include <tuple>

namespace nagaya::xmp {

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
