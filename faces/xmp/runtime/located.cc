// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/located.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "faces/xmp/runtime/failure.h"

namespace nagaya::xmp {
namespace {

constexpr size_t rounded_up(size_t bytes, size_t part_bytes) {
  return (bytes + part_bytes - 1) / part_bytes * part_bytes;
}

}  // namespace

Located::Located(const char* where, nagaya_xmp_operation operation, nagaya_xmp_type type,
                 void* data, size_t count, const nagaya_xmp_locations& locations, int64_t place)
    : wants_max_(is_maximum(operation)),
      wants_last_(operation == NAGAYA_XMP_LAST_MAX || operation == NAGAYA_XMP_LAST_MIN),
      compare_(comparison_of(type)),
      value_bytes_(bytes_of(type)),
      count_(count),
      data_(static_cast<std::byte*>(data)),
      locations_(locations.location, locations.location + locations.count),
      order_words_(static_cast<size_t>(locations.loops) + 1),
      order_bytes_(rounded_up(order_words_ * sizeof(int64_t), kPartBytes)) {
  if (compare_ == nullptr || !(wants_max_ || is_minimum(operation)))
    fail(where, "reduction: only maxima and minima have locations");
  size_t bytes = kPartBytes + order_bytes_;
  for (const nagaya_xmp_location& one : locations_) {
    if (one.bytes % count_ != 0)
      fail(where, "reduction: a location of " + std::to_string(one.bytes) +
                      " bytes cannot be dealt to " + std::to_string(count_) + " elements");
    bytes += one.bytes / count_;
  }
  element_bytes_ = rounded_up(bytes, kPartBytes);
  elements_.resize(element_bytes_ * count_);
  for_each_part([](std::byte* packed, std::byte* program, size_t part_bytes) {
    std::memcpy(packed, program, part_bytes);
  });
  std::vector<int64_t> order(locations.iteration, locations.iteration + locations.loops);
  order.push_back(place);
  for (size_t n = 0; n < count_; ++n)
    std::memcpy(&elements_[n * element_bytes_ + kPartBytes], order.data(),
                order.size() * sizeof(int64_t));
}

template <class Visit>
void Located::for_each_part(Visit visit) {
  for (size_t n = 0; n < count_; ++n) {
    std::byte* at = &elements_[n * element_bytes_];
    visit(at, data_ + n * value_bytes_, value_bytes_);
    at += kPartBytes + order_bytes_;
    for (const nagaya_xmp_location& one : locations_) {
      const size_t bytes = one.bytes / count_;
      visit(at, static_cast<std::byte*>(one.data) + n * bytes, bytes);
      at += bytes;
    }
  }
}

void Located::unpack() {
  for_each_part([](std::byte* packed, std::byte* program, size_t bytes) {
    std::memcpy(program, packed, bytes);
  });
}

void Located::describe(nagaya_collective& what) {
  what.send.base = what.receive.base = elements_.data();
  what.elements.count = count_;
  what.elements.extent = element_bytes_;
  what.elements.context = this;
  what.elements.reduce = combine;
}

bool Located::is_better(const std::byte* a, const std::byte* b) const {
  const int order = compare_(a, b);
  if (order != 0) return wants_max_ ? order > 0 : order < 0;
  const auto order_of = [this](const std::byte* element) {
    return std::span(reinterpret_cast<const int64_t*>(element + kPartBytes), order_words_);
  };
  const auto order_a = order_of(a), order_b = order_of(b);
  return wants_last_ ? std::ranges::lexicographical_compare(order_b, order_a)
                     : std::ranges::lexicographical_compare(order_a, order_b);
}

void Located::combine(void* located, const void* in, void* inout, size_t count) {
  const Located& self = *static_cast<const Located*>(located);
  auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  for (size_t n = 0; n < count; ++n, from += self.element_bytes_, to += self.element_bytes_)
    if (self.is_better(from, to)) std::memcpy(to, from, self.element_bytes_);
}

}  // namespace nagaya::xmp
