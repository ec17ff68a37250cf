// SPDX-License-Identifier: BSD-3-Clause
// edits.h - changes of the printed text, collected in any order and applied at once.
#pragma once

#include <string>
#include <vector>

#include "preprocess/unit.h"
#include "syntax/facts.h"

namespace nagaya::xmp {

// Returns the offset before all pragmas of a loop that stand directly before `offset`.
size_t before_loop_pragmas(const Unit& unit, size_t offset);

class Edits {
 public:
  // Replaces `range` by `text`; other edits inside the range are dropped.
  void replace(const Range& range, std::string text);
  // insert() adds `text` at `offset`; close() adds the end of a construct that begins at
  // `construct_begin`. At one offset ends of constructs come first, inner before outer ones; of
  // constructs that begin together the one closed by the last call is the innermost. Then come
  // insertions in the order of the calls, then a replacement that begins there.
  void insert(size_t offset, std::string text);
  void close(size_t offset, size_t construct_begin, std::string text);
  // Inserts generated statements as a line of their own that counts as the user's `line`; the lines
  // behind it keep their numbers.
  void insert_line(const PrintedText& printed, size_t offset, const Place& line,
                   const std::string& text);

  // Returns `text` with all edits made.
  std::string apply(const std::string& text);

 private:
  struct Edit {
    size_t offset, length;
    int rank;      // 0: close, 1: insert, 2: replace
    size_t order;  // ascending within a rank
    size_t call;   // descending among equal orders
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace nagaya::xmp
