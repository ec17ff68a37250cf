// SPDX-License-Identifier: BSD-3-Clause
// file_sections.h - a section of an array as it lies in a file: its elements in the order of C,
// without gaps. And the runs of bytes in it that are the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faces/xmp/runtime/arrays.h"
#include "xmp/xmp.h"

// The indexes low, low + step, ... in each dimension.
struct xmp_range_t {
  struct Indexes {
    int64_t low = 0;
    int64_t length = -1;  // -1: all of the dimension
    int64_t step = 1;
  };
  std::vector<Indexes> dimensions;
};

namespace nagaya::xmp {

// Consecutive bytes of the section and of the caller's block.
struct FileRun {
  int64_t at;       // in the section
  std::byte* data;  // in the block
  size_t bytes;
  int64_t own_before;  // the caller's bytes in the section before this run
};

class FileSection {
 public:
  // Returns the array of a descriptor; nullptr: it is none, not all of its nodes execute this, or
  // it has not all elements of the range. The program fails if it has no blocks yet.
  static const nagaya_xmp_array_state* array_of(xmp_desc_t descriptor, const xmp_range_t* range);
  // An array of array_of().
  FileSection(const nagaya_xmp_array_state& array, const xmp_range_t& range);

  int64_t bytes() const { return bytes_; }
  int64_t own_bytes() const;
  // The caller's runs, in the order of the section.
  const std::vector<FileRun>& runs() const { return runs_; }
  // Whether the caller has the first copy of its elements.
  bool has_first_copy() const { return has_first_copy_; }

 private:
  void add(int64_t at, std::byte* data, size_t bytes);

  int64_t bytes_;
  bool has_first_copy_;
  std::vector<FileRun> runs_;
};

}  // namespace nagaya::xmp
