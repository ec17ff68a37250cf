// SPDX-License-Identifier: BSD-3-Clause
// file_access.cc - moves bytes between memory and a file, through its view.
#include <errno.h>

#include <algorithm>
#include <iterator>

#include "faces/xmp/runtime/files.h"

namespace nagaya::xmp {

int64_t place_of(const xmp_file_t& file, int64_t position, size_t& rest) {
  if (!file.view) {
    rest = SIZE_MAX;
    return file.displacement + position;
  }
  const int64_t own = file.view->own_bytes();
  rest = 0;
  if (own == 0) return file.displacement;
  // The section is repeated, and with it the caller's part.
  const int64_t in_part = position % own;
  const auto run =
      std::prev(std::ranges::upper_bound(file.view->runs(), in_part, {}, &FileRun::own_before));
  const int64_t in_run = in_part - run->own_before;
  rest = run->bytes - static_cast<size_t>(in_run);
  return file.displacement + position / own * file.view->bytes() + run->at + in_run;
}

ssize_t FileAccess::move_at(int64_t place, std::byte* data, size_t bytes) const {
  size_t moved = 0;
  while (moved < bytes) {
    const auto at = place + static_cast<int64_t>(moved);
    const ssize_t one = writes_ ? pwrite(file_.descriptor, data + moved, bytes - moved, at)
                                : pread(file_.descriptor, data + moved, bytes - moved, at);
    if (one < 0 && errno == EINTR) continue;
    if (one < 0) return -1;
    if (one == 0) break;
    moved += static_cast<size_t>(one);
  }
  return static_cast<ssize_t>(moved);
}

ssize_t FileAccess::move(int64_t& position, std::byte* data, size_t bytes) const {
  if (writes_ && !file_.view) position = std::max(position, file_.first_write - file_.displacement);
  size_t moved = 0;
  while (moved < bytes) {
    size_t rest;
    const int64_t place = place_of(file_, position, rest);
    const size_t wanted = std::min(rest, bytes - moved);
    const ssize_t one = move_at(place, data + moved, wanted);
    if (one < 0) return -1;
    position += one;
    moved += static_cast<size_t>(one);
    if (static_cast<size_t>(one) < wanted || rest == 0) break;
  }
  return static_cast<ssize_t>(moved);
}

}  // namespace nagaya::xmp
