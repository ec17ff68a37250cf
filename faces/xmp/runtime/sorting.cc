// SPDX-License-Identifier: BSD-3-Clause
// sorting.cc - the functions xmp_sort_up and xmp_sort_down.
#include <algorithm>
#include <cstdlib>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/redistribution.h"
#include "faces/xmp/runtime/reductions.h"
#include "faces/xmp/runtime/transformations.h"

namespace nagaya::xmp {
namespace {

// The values of one node, of one type.
class Values {
 public:
  Values(size_t bytes, Compare* compare) : bytes_(bytes), compare_(compare) {}
  size_t size() const { return memory_.size() / bytes_; }
  const std::byte* at(size_t n) const { return memory_.data() + n * bytes_; }
  // `bytes`: of whole values.
  void add(const std::byte* values, size_t bytes) {
    check_agreement(bytes % bytes_ == 0);
    memory_.insert(memory_.end(), values, values + bytes);
  }
  void sort() {
    if (!memory_.empty()) std::qsort(memory_.data(), size(), bytes_, compare_);
  }
  // Returns how many of the sorted values are not greater than `limit`.
  size_t count_up_to(const std::byte* limit) const {
    size_t low = 0, high = size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (compare_(at(middle), limit) <= 0)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  const Bytes& bytes() const { return memory_; }

 private:
  const size_t bytes_;
  Compare* const compare_;
  Bytes memory_;
};

// Sorts by samples: each node gets the values between two of the limits that all agree on.
Values sorted_part(Values own, size_t bytes, Compare* compare) {
  const size_t nodes = Executing::now().size();
  own.sort();
  Bytes samples;
  for (size_t n = 1; n < nodes && own.size() != 0; ++n) {
    const std::byte* const sample = own.at(n * own.size() / nodes);
    samples.insert(samples.end(), sample, sample + bytes);
  }
  Values limits(bytes, compare), part(bytes, compare);
  for (const Bytes& one : exchange(std::vector<Bytes>(nodes, samples)))
    limits.add(one.data(), one.size());
  limits.sort();
  std::vector<Bytes> sent(nodes);
  size_t begin = 0;
  for (size_t n = 0; n < nodes; ++n) {
    const size_t end = n + 1 == nodes || limits.size() == 0
                           ? own.size()
                           : own.count_up_to(limits.at((n + 1) * limits.size() / nodes));
    if (end > begin) sent[n].assign(own.at(begin), own.at(end));
    begin = std::max(begin, end);
  }
  for (const Bytes& one : exchange(sent)) part.add(one.data(), one.size());
  part.sort();
  return part;
}

}  // namespace

void sort(const Call& call, xmp_desc_t v1, xmp_desc_t v2, bool is_downwards) {
  const Ownership to(call.vector(v1, "v1")), from(call.vector(v2, "v2"));
  call.need_same_elements(to.array(), from.array());
  call.need(to.elements() == from.elements(), "the vectors must have one extent");
  Compare* const compare = from.array().type < 0
                               ? nullptr
                               : comparison_of(static_cast<nagaya_xmp_type>(from.array().type));
  call.need(compare != nullptr, "the elements of " + from.array().name + " have no order");
  const size_t bytes = from.array().element_bytes;
  Values own(bytes, compare);
  if (from.has_first_copy())
    from.for_each_own([&](int64_t, const std::byte* value) { own.add(value, bytes); });
  const Values part = sorted_part(std::move(own), bytes, compare);
  const int64_t before = sum_before(static_cast<int64_t>(part.size()));
  Elements elements(bytes);
  for (size_t n = 0; n < part.size(); ++n) {
    const int64_t place = before + static_cast<int64_t>(n);
    elements.add(is_downwards ? to.elements() - 1 - place : place, part.at(n));
  }
  deliver(to, elements);
}

}  // namespace nagaya::xmp
