// SPDX-License-Identifier: BSD-3-Clause
// edits.h - changes of the printed text, collected in any order and applied at once.
#pragma once

#include <string>
#include <vector>

#include "preprocess/unit.h"
#include "syntax/facts.h"

namespace nagaya::xmp {

class Edits {
 public:
  // `range` becomes `text`; edits inside of it are dropped.
  void replace(const Range& range, std::string text);
  // At one offset the ends of constructs come first, inner ones before outer ones; of constructs
  // that begin together the one called last is the innermost. Then insertions in the order of the
  // calls; then a replacement that begins there.
  void insert(size_t offset, std::string text);
  void close(size_t offset, size_t construct_begin, std::string text);
  // Generated statements on a line of their own that counts as the user's `line`; the numbers of
  // the lines behind it stay as they were.
  void insert_line(const PrintedText& printed, size_t offset, const Place& line,
                   const std::string& text);

  std::string apply(const std::string& text);

 private:
  struct Edit {
    size_t offset, length;
    int rank;      // 0: close, 1: insert, 2: replace
    size_t order;  // ascending within a rank
    size_t call;   // descending where the orders are the same
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace nagaya::xmp
