// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/ownership.h"

#include <algorithm>
#include <numeric>

#include "faces/xmp/runtime/executing.h"

namespace nagaya::xmp {

Ownership::Ownership(const nagaya_xmp_array_state& array)
    : array_(array),
      node_of_(array.dimensions()),
      offset_(array.dimensions()),
      own_(array.dimensions()) {
  const nagaya_xmp_nodes& nodes = *array.with->onto;
  std::vector<uint32_t> strides(nodes.dimensions(), 1);
  for (size_t g = strides.size() - 1; g != 0; --g) strides[g - 1] = strides[g] * nodes.extent[g];
  for (size_t d = dimensions(); d-- != 0;) {
    elements_ *= extent(d);
    add_dimension(d, strides);
  }
  find_copies(strides);
  for (uint32_t node = 0; node < nodes.set.size(); ++node)
    executing_.push_back(
        static_cast<uint32_t>(Executing::now().index_of(nodes.set.job_rank(node))));
}

void Ownership::add_dimension(size_t d, const std::vector<uint32_t>& strides) {
  const nagaya_xmp_alignment& alignment = array_.alignments[d];
  const int axis =
      alignment.dimension < 0 ? -1 : array_.with->axis(static_cast<size_t>(alignment.dimension));
  const bool has_caller = array_.with->onto->set.has_caller();
  nagaya_distribution distribution{};
  if (axis >= 0) distribution = array_.with->distribution(static_cast<size_t>(alignment.dimension));
  const bool by_place =
      axis >= 0 && distribution.kind == NAGAYA_DISTRIBUTION_CYCLIC && !array_.has_full_shadow(d);
  ptrdiff_t stride = static_cast<ptrdiff_t>(array_.element_bytes);
  for (size_t k = dimensions(); k-- > d + 1;) stride *= array_.array->count[k];
  for (long i = 0; i < extent(d); ++i) {
    const long at = i + alignment.offset;
    const uint32_t coordinate = axis < 0 ? 0 : nagaya_distribution_coordinate(&distribution, at);
    const long position = by_place ? nagaya_distribution_place(&distribution, at) : i;
    node_of_[d].push_back(axis < 0 ? 0 : coordinate * strides[static_cast<size_t>(axis)]);
    offset_[d].push_back((position - array_.array->first[d]) * stride);
    if (has_caller &&
        (axis < 0 || array_.with->onto->own_coordinate(static_cast<size_t>(axis)) == coordinate))
      own_[d].push_back(i);
  }
}

void Ownership::find_copies(const std::vector<uint32_t>& strides) {
  const nagaya_xmp_nodes& nodes = *array_.with->onto;
  copies_ = {0};
  has_first_copy_ = nodes.set.has_caller();
  for (size_t axis = 0; axis < nodes.dimensions(); ++axis) {
    const bool is_named = std::ranges::any_of(array_.alignments, [&](const auto& alignment) {
      return alignment.dimension >= 0 &&
             array_.with->axis(static_cast<size_t>(alignment.dimension)) == static_cast<int>(axis);
    });
    if (is_named) continue;
    if (nodes.set.has_caller() && nodes.own_coordinate(axis) != 0) has_first_copy_ = false;
    const std::vector<uint32_t> before = copies_;
    for (uint32_t c = 1; c < nodes.extent[axis]; ++c)
      for (const uint32_t copy : before) copies_.push_back(copy + c * strides[axis]);
  }
}

int64_t Ownership::number_of(const std::vector<long>& index) const {
  int64_t number = 0;
  for (size_t d = 0; d < dimensions(); ++d) number = number * extent(d) + index[d];
  return number;
}

std::vector<long> Ownership::index_of(int64_t number) const {
  std::vector<long> index(dimensions());
  for (size_t d = dimensions(); d-- != 0; number /= extent(d)) index[d] = number % extent(d);
  return index;
}

uint32_t Ownership::first_node(int64_t number) const {
  uint32_t node = 0;
  for (size_t d = dimensions(); d-- != 0; number /= extent(d))
    node += node_of_[d][static_cast<size_t>(number % extent(d))];
  return node;
}

uint32_t Ownership::owner(int64_t number) const {
  return executing_[first_node(number)];
}

void Ownership::for_each_owner(int64_t number, const std::function<void(uint32_t)>& take) const {
  const uint32_t first = first_node(number);
  for (const uint32_t copy : copies_) take(executing_[first + copy]);
}

std::byte* Ownership::address_of(int64_t number) const {
  auto* at = reinterpret_cast<std::byte*>(array_.array->base);
  for (size_t d = dimensions(); d-- != 0; number /= extent(d))
    at += offset_[d][static_cast<size_t>(number % extent(d))];
  return at;
}

void Ownership::for_each_own(const std::function<void(int64_t, std::byte*)>& take) const {
  std::vector<size_t> at(dimensions(), 0);
  if (std::ranges::any_of(own_, [](const auto& indexes) { return indexes.empty(); })) return;
  while (true) {
    int64_t number = 0;
    auto* address = reinterpret_cast<std::byte*>(array_.array->base);
    for (size_t d = 0; d < dimensions(); ++d) {
      const long i = own_[d][at[d]];
      number = number * extent(d) + i;
      address += offset_[d][static_cast<size_t>(i)];
    }
    take(number, address);
    size_t d = dimensions();
    while (d-- != 0 && ++at[d] == own_[d].size()) at[d] = 0;
    if (d == SIZE_MAX) return;
  }
}

}  // namespace nagaya::xmp
