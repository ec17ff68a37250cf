// SPDX-License-Identifier: BSD-3-Clause
// files.h - the files of xmp_io.h that are open.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "faces/xmp/runtime/file_sections.h"
#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/shared_pointer.h"

// Positions count the bytes of the view; places are bytes of the file.
struct xmp_file_t {
  xmp_file_t(nagaya::xmp::ProcessSet& set, int descriptor)
      : set(set), descriptor(descriptor), shared(set) {}

  nagaya::xmp::ProcessSet& set;
  const int descriptor;
  int64_t first_write = 0;  // the first place where a write may begin
  int64_t displacement = 0;
  std::optional<nagaya::xmp::FileSection> view;  // none: all bytes from the displacement on
  int64_t position = 0;                          // the individual pointer
  nagaya::xmp::SharedPointer shared;             // a place
};

namespace nagaya::xmp {

// Moves bytes between memory and the file.
class FileAccess {
 public:
  FileAccess(const xmp_file_t& file, bool writes) : file_(file), writes_(writes) {}

  // Moves bytes at a place of the file, or at a position of the view, which moves behind them.
  // Return how many they have moved, fewer than `bytes` at the end of the file or of an empty view;
  // -1: errno has the reason.
  ssize_t move_at(int64_t place, std::byte* data, size_t bytes) const;
  ssize_t move(int64_t& position, std::byte* data, size_t bytes) const;

 private:
  const xmp_file_t& file_;
  const bool writes_;
};

// Returns the place of a position of the view. `rest`: how many bytes of the view follow each other
// from there on; 0: the view is empty.
int64_t place_of(const xmp_file_t& file, int64_t position, size_t& rest);

// Collective, at the program's end.
void close_files();

}  // namespace nagaya::xmp
