// SPDX-License-Identifier: BSD-3-Clause
// packing.cc - the functions xmp_pack and xmp_unpack.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/redistribution.h"
#include "faces/xmp/runtime/transformations.h"

namespace nagaya::xmp {
namespace {

// The elements of an array that a mask selects; all without a mask.
class Selection {
 public:
  Selection(const Call& call, const Ownership& of, xmp_desc_t mask) : call_(call), of_(of) {
    if (mask == nullptr) return;
    const nagaya_xmp_array_state& array = call.array(mask, "mask");
    call.need_same_layout(array, of.array());
    mask_.emplace(array);
  }

  bool has(int64_t number) const {
    return !mask_ || call_.integer_at(mask_->array(), mask_->address_of(number)) != 0;
  }

  // Returns how many selected elements each of these, ascending, has before it. All nodes call it
  // with all of their selected elements. Node n counts those of the n-th part of all numbers.
  std::vector<int64_t> places_of(const std::vector<int64_t>& numbers) const {
    if (!mask_) return numbers;
    const size_t nodes = Executing::now().size();
    const int64_t part = of_.elements() / static_cast<int64_t>(nodes) + 1;
    std::vector<Bytes> asked(nodes), answers(nodes);
    for (const int64_t number : numbers)
      append(asked[static_cast<size_t>(number / part)], &number, sizeof number);
    const std::vector<Bytes> questions = exchange(asked);
    std::vector<int64_t> all;  // several copies have asked for one element
    for (const Bytes& one : questions)
      for_each_number(one, 0, [&](int64_t number, const std::byte*) { all.push_back(number); });
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    const int64_t before = sum_before(static_cast<int64_t>(all.size()));
    for (size_t n = 0; n < nodes; ++n)
      for_each_number(questions[n], 0, [&](int64_t number, const std::byte*) {
        const int64_t place = before + (std::ranges::lower_bound(all, number) - all.begin());
        append(answers[n], &place, sizeof place);
      });
    // The numbers ascend, so those of one part are the answers of its node.
    std::vector<int64_t> places;
    for (const Bytes& one : exchange(answers))
      for_each_number(one, 0, [&](int64_t place, const std::byte*) { places.push_back(place); });
    check_agreement(places.size() == numbers.size());
    return places;
  }

 private:
  const Call& call_;
  const Ownership& of_;
  std::optional<Ownership> mask_;
};

void check_places(const Call& call, const Ownership& vector, const std::vector<int64_t>& places) {
  for (const int64_t place : places)
    call.need(vector.has_number(place), vector.array().name + " has only " +
                                            std::to_string(vector.elements()) +
                                            " elements, but more are selected");
}

}  // namespace

void pack(const Call& call, xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask) {
  const Ownership to(call.vector(v, "v")), from(call.array(a, "a"));
  call.need_same_elements(to.array(), from.array());
  const Selection selection(call, from, mask);
  std::vector<int64_t> numbers;
  std::vector<const std::byte*> values;
  if (from.has_first_copy())
    from.for_each_own([&](int64_t number, const std::byte* value) {
      if (!selection.has(number)) return;
      numbers.push_back(number);
      values.push_back(value);
    });
  const std::vector<int64_t> places = selection.places_of(numbers);
  check_places(call, to, places);
  Elements elements(from.array().element_bytes);
  for (size_t n = 0; n < places.size(); ++n) elements.add(places[n], values[n]);
  deliver(to, elements);
}

void unpack(const Call& call, xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask) {
  const Ownership to(call.array(a, "a")), from(call.vector(v, "v"));
  call.need_same_elements(to.array(), from.array());
  const Selection selection(call, to, mask);
  std::vector<int64_t> numbers;
  std::vector<std::byte*> targets;
  to.for_each_own([&](int64_t number, std::byte* at) {
    if (!selection.has(number)) return;
    numbers.push_back(number);
    targets.push_back(at);
  });
  const std::vector<int64_t> places = selection.places_of(numbers);
  check_places(call, from, places);
  const Bytes values = fetch(from, places);
  const size_t bytes = to.array().element_bytes;
  for (size_t n = 0; n < targets.size(); ++n)
    std::memcpy(targets[n], values.data() + n * bytes, bytes);
}

}  // namespace nagaya::xmp
