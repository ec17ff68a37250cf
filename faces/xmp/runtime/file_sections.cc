// SPDX-License-Identifier: BSD-3-Clause
// file_sections.cc - which bytes of a section in a file are the caller's; and the functions of
// ranges.
#include "faces/xmp/runtime/file_sections.h"

#include <algorithm>
#include <string>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/ownership.h"
#include "xmp/xmp_io.h"

namespace nagaya::xmp {
namespace {

using Indexes = xmp_range_t::Indexes;

// One of the caller's indexes of a dimension that the range has, and its number in the range.
struct Place {
  int64_t number;
  long index;
};

Indexes with_length(Indexes one, long extent) {
  return one.length >= 0 ? one : Indexes{0, extent, 1};
}

// Returns the caller's places in the order of the range.
std::vector<Place> own_places(const std::vector<long>& own, const Indexes& range) {
  std::vector<Place> places;
  for (const long index : own) {
    const int64_t distance = index - range.low;
    const int64_t number = distance / range.step;
    if (distance % range.step == 0 && number >= 0 && number < range.length)
      places.push_back({number, index});
  }
  if (range.step < 0) std::ranges::reverse(places);
  return places;
}

// Whether the array has all elements of the range.
bool fits(const nagaya_xmp_array_state& array, const xmp_range_t& range) {
  if (range.dimensions.size() != array.dimensions()) return false;
  for (size_t d = 0; d < array.dimensions(); ++d) {
    const Indexes one = with_length(range.dimensions[d], array.extents[d]);
    const int64_t last = one.low + (one.length - 1) * one.step;
    if (std::min(one.low, last) < 0 || std::max(one.low, last) >= array.extents[d]) return false;
  }
  return true;
}

}  // namespace

const nagaya_xmp_array_state* FileSection::array_of(xmp_desc_t descriptor,
                                                    const xmp_range_t* range) {
  const auto* const array = object_of<nagaya_xmp_array_state>(descriptor, XMP_DESC_ARRAY);
  if (array == nullptr || range == nullptr) return nullptr;
  state_of("", *array->array);
  return Executing::now().contains(array->with->onto->set) && fits(*array, *range) ? array
                                                                                   : nullptr;
}

FileSection::FileSection(const nagaya_xmp_array_state& array, const xmp_range_t& range)
    : bytes_(static_cast<int64_t>(array.element_bytes)) {
  const Ownership ownership(array);
  has_first_copy_ = ownership.has_first_copy();
  const size_t dimensions = array.dimensions();
  std::vector<std::vector<Place>> places(dimensions);
  std::vector<int64_t> stride(dimensions);
  for (size_t d = dimensions; d-- != 0;) {
    const Indexes one = with_length(range.dimensions[d], array.extents[d]);
    places[d] = own_places(ownership.own_indexes(d), one);
    stride[d] = bytes_;
    bytes_ *= one.length;
  }
  if (std::ranges::any_of(places, [](const auto& all) { return all.empty(); })) return;
  std::vector<size_t> at(dimensions, 0);
  std::vector<long> index(dimensions);
  while (true) {
    int64_t offset = 0;
    for (size_t d = 0; d < dimensions; ++d) {
      offset += places[d][at[d]].number * stride[d];
      index[d] = places[d][at[d]].index;
    }
    add(offset, ownership.address_of(ownership.number_of(index)), array.element_bytes);
    size_t d = dimensions;
    while (d-- != 0 && ++at[d] == places[d].size()) at[d] = 0;
    if (d == SIZE_MAX) return;
  }
}

void FileSection::add(int64_t at, std::byte* data, size_t bytes) {
  if (!runs_.empty()) {
    FileRun& last = runs_.back();
    if (at == last.at + static_cast<int64_t>(last.bytes) && data == last.data + last.bytes) {
      last.bytes += bytes;
      return;
    }
  }
  runs_.push_back({at, data, bytes, own_bytes()});
}

int64_t FileSection::own_bytes() const {
  return runs_.empty() ? 0 : runs_.back().own_before + static_cast<int64_t>(runs_.back().bytes);
}

}  // namespace nagaya::xmp

using nagaya::xmp::fail;

xmp_range_t* xmp_allocate_range(int n_dim) {
  constexpr int kMost = 7;
  if (n_dim < 1 || n_dim > kMost) return nullptr;
  return new xmp_range_t{std::vector<xmp_range_t::Indexes>(static_cast<size_t>(n_dim))};
}

void xmp_set_range(xmp_range_t* rp, int i_dim, int lb, int length, int step) {
  if (rp == nullptr) fail("", "xmp_set_range: its range is a null pointer");
  if (i_dim < 1 || static_cast<size_t>(i_dim) > rp->dimensions.size())
    fail("", "xmp_set_range: the range has no dimension " + std::to_string(i_dim) +
                 ": it has 1 to " + std::to_string(rp->dimensions.size()));
  if (length < 1 || step == 0)
    fail("", "xmp_set_range: length " + std::to_string(length) + ", step " + std::to_string(step) +
                 ": a length is at least 1, a step is not 0");
  rp->dimensions[static_cast<size_t>(i_dim) - 1] = {lb, length, step};
}

void xmp_free_range(xmp_range_t* rp) {
  delete rp;
}
