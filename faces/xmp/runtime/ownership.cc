// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/ownership.h"

#include <algorithm>
#include <numeric>

#include "faces/xmp/runtime/executing.h"

namespace nagaya::xmp {

Ownership::Ownership(const nagaya_xmp_array_state& array) : array_(array) {
  const nagaya_xmp_nodes& nodes = *array.with->onto;
  std::vector<uint32_t> strides(nodes.dimensions(), 1);
  for (size_t g = strides.size() - 1; g != 0; --g) strides[g - 1] = strides[g] * nodes.extent[g];
  for (size_t d = 0; d < dimensions(); ++d) {
    elements_ *= extent(d);
    dimensions_.push_back(dimension_of(d, strides));
    own_.push_back(find_own(d));
  }
  find_copies(strides);
  for (uint32_t node = 0; node < nodes.set.size(); ++node)
    executing_.push_back(
        static_cast<uint32_t>(Executing::now().index_of(nodes.set.job_rank(node))));
}

Ownership::Dimension Ownership::dimension_of(size_t d, const std::vector<uint32_t>& strides) const {
  const nagaya_xmp_alignment& alignment = array_.alignments[d];
  Dimension dimension;
  dimension.stride = static_cast<ptrdiff_t>(array_.element_bytes);
  for (size_t k = dimensions(); k-- > d + 1;) dimension.stride *= array_.array->count[k];
  if (alignment.dimension < 0) return dimension;
  const auto along = static_cast<size_t>(alignment.dimension);
  dimension.axis = array_.with->axis(along);
  if (dimension.axis < 0) return dimension;
  dimension.distribution = array_.with->distribution(along);
  dimension.offset = alignment.offset;
  dimension.is_by_place =
      dimension.distribution.kind == NAGAYA_DISTRIBUTION_CYCLIC && !array_.has_full_shadow(d);
  dimension.node_stride = strides[static_cast<size_t>(dimension.axis)];
  return dimension;
}

// Returns the caller's indexes in dimension d, ascending.
std::vector<long> Ownership::find_own(size_t d) {
  std::vector<long> own;
  if (!array_.with->onto->set.has_caller()) return own;
  Dimension& of = dimensions_[d];
  if (of.axis < 0) {
    own.resize(static_cast<size_t>(extent(d)));
    std::iota(own.begin(), own.end(), 0L);
    return own;
  }
  const uint32_t coordinate = array_.with->onto->own_coordinate(static_cast<size_t>(of.axis));
  of.first_own = nagaya_distribution_count_below(&of.distribution, coordinate, of.offset);
  const int64_t end =
      nagaya_distribution_count_below(&of.distribution, coordinate, of.offset + extent(d));
  for (int64_t place = of.first_own; place < end;) {
    const nagaya_interval run = nagaya_distribution_run(&of.distribution, coordinate, place);
    for (int64_t at = run.low; at <= run.high && place < end; ++at, ++place)
      own.push_back(at - of.offset);
  }
  return own;
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

bool Ownership::is_own(int64_t number) const {
  if (!has_number(number)) return false;
  for (size_t d = dimensions(); d-- != 0; number /= extent(d))
    if (!std::ranges::binary_search(own_[d], number % extent(d))) return false;
  return true;
}

uint32_t Ownership::first_node(int64_t number) const {
  uint32_t node = 0;
  for (size_t d = dimensions(); d-- != 0; number /= extent(d))
    node += dimensions_[d].coordinate_of(number % extent(d)) * dimensions_[d].node_stride;
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
    at += (dimensions_[d].position_of(number % extent(d)) - array_.array->first[d]) *
          dimensions_[d].stride;
  return at;
}

void Ownership::for_each_own(const std::function<void(int64_t, std::byte*)>& take) const {
  std::vector<size_t> at(dimensions(), 0);
  if (std::ranges::any_of(own_, [](const auto& indexes) { return indexes.empty(); })) return;
  while (true) {
    int64_t number = 0;
    auto* address = reinterpret_cast<std::byte*>(array_.array->base);
    for (size_t d = 0; d < dimensions(); ++d) {
      const long index = own_[d][at[d]];
      const Dimension& of = dimensions_[d];
      const int64_t position = of.is_by_place ? of.first_own + static_cast<int64_t>(at[d]) : index;
      number = number * extent(d) + index;
      address += (position - array_.array->first[d]) * of.stride;
    }
    take(number, address);
    size_t d = dimensions();
    while (d-- != 0 && ++at[d] == own_[d].size()) at[d] = 0;
    if (d == SIZE_MAX) return;
  }
}

}  // namespace nagaya::xmp
