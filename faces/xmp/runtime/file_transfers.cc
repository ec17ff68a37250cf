// SPDX-License-Identifier: BSD-3-Clause
// file_transfers.cc - reads and writes.
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>

#include "faces/xmp/runtime/files.h"
#include "xmp/xmp_io.h"

namespace nagaya::xmp {
namespace {

ssize_t refuse() {
  errno = EINVAL;
  return -1;
}

// Whether the arguments describe bytes that can be counted.
bool has_bytes(const xmp_file_t* fh, const void* buffer, size_t size, size_t count, size_t& bytes) {
  return fh != nullptr && (buffer != nullptr || size == 0 || count == 0) &&
         !__builtin_mul_overflow(size, count, &bytes) && bytes <= SSIZE_MAX;
}

ssize_t move_individual(xmp_file_t* fh, void* buffer, size_t size, size_t count, bool writes) {
  size_t bytes;
  if (!has_bytes(fh, buffer, size, count, bytes)) return refuse();
  return FileAccess(*fh, writes).move(fh->position, static_cast<std::byte*>(buffer), bytes);
}

ssize_t write_shared(xmp_file_t& file, std::byte* data, size_t bytes) {
  const auto begin = [&](int64_t place) { return std::max(place, file.first_write); };
  const int64_t before =
      file.shared.update([&](int64_t place) { return begin(place) + static_cast<int64_t>(bytes); });
  return FileAccess(file, true).move_at(begin(before), data, bytes);
}

// The pointer moves by the bytes that the file has.
ssize_t read_shared(xmp_file_t& file, std::byte* data, size_t bytes) {
  struct stat status {};
  if (fstat(file.descriptor, &status) != 0) return -1;
  const auto end = [&](int64_t place) {
    return std::max(place, std::min<int64_t>(place + static_cast<int64_t>(bytes), status.st_size));
  };
  const int64_t before = file.shared.update(end);
  return FileAccess(file, false).move_at(before, data, static_cast<size_t>(end(before) - before));
}

ssize_t move_shared(xmp_file_t* fh, void* buffer, size_t size, size_t count, bool writes) {
  size_t bytes;
  if (!has_bytes(fh, buffer, size, count, bytes) || fh->view) return refuse();
  auto* const data = static_cast<std::byte*>(buffer);
  return writes ? write_shared(*fh, data, bytes) : read_shared(*fh, data, bytes);
}

// Each node moves its part through its view.
ssize_t move_through_view(xmp_file_t& file, const FileSection& section, bool writes) {
  ssize_t sum = 0;
  for (const FileRun& run : section.runs()) {
    const ssize_t moved = FileAccess(file, writes).move(file.position, run.data, run.bytes);
    if (moved < 0) return -1;
    sum += moved;
    if (static_cast<size_t>(moved) < run.bytes) break;
  }
  return sum;
}

// The whole section lies at the pointer, which moves behind it at all nodes.
ssize_t move_whole(xmp_file_t& file, const FileSection& section, bool writes) {
  int64_t begin = file.displacement + file.position;
  if (writes) begin = std::max(begin, file.first_write);
  file.position = begin + section.bytes() - file.displacement;
  ssize_t sum = 0;
  if (writes && !section.has_first_copy()) return section.own_bytes();
  for (const FileRun& run : section.runs()) {
    const ssize_t moved = FileAccess(file, writes).move_at(begin + run.at, run.data, run.bytes);
    if (moved < 0) return -1;
    sum += moved;
  }
  return sum;
}

ssize_t move_array(xmp_file_t* fh, xmp_desc_t desc, const xmp_range_t* rp, bool writes) {
  const nagaya_xmp_array_state* const array = FileSection::array_of(desc, rp);
  if (fh == nullptr || array == nullptr) return refuse();
  const FileSection section(*array, *rp);
  return fh->view ? move_through_view(*fh, section, writes) : move_whole(*fh, section, writes);
}

}  // namespace
}  // namespace nagaya::xmp

using namespace nagaya::xmp;

ssize_t xmp_fread_all(xmp_file_t* fh, void* buffer, size_t size, size_t count) {
  return move_individual(fh, buffer, size, count, false);
}

ssize_t xmp_fwrite_all(xmp_file_t* fh, void* buffer, size_t size, size_t count) {
  return move_individual(fh, buffer, size, count, true);
}

ssize_t xmp_fread_darray_all(xmp_file_t* fh, xmp_desc_t desc, xmp_range_t* rp) {
  return move_array(fh, desc, rp, false);
}

ssize_t xmp_fwrite_darray_all(xmp_file_t* fh, xmp_desc_t desc, xmp_range_t* rp) {
  return move_array(fh, desc, rp, true);
}

ssize_t xmp_fread_shared(xmp_file_t* fh, void* buffer, size_t size, size_t count) {
  return move_shared(fh, buffer, size, count, false);
}

ssize_t xmp_fwrite_shared(xmp_file_t* fh, void* buffer, size_t size, size_t count) {
  return move_shared(fh, buffer, size, count, true);
}

ssize_t xmp_fread(xmp_file_t* fh, void* buffer, size_t size, size_t count) {
  return move_individual(fh, buffer, size, count, false);
}

ssize_t xmp_fwrite(xmp_file_t* fh, void* buffer, size_t size, size_t count) {
  return move_individual(fh, buffer, size, count, true);
}
