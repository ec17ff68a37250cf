// SPDX-License-Identifier: BSD-3-Clause
// scattering.cc - the functions xmp_scatter and xmp_gather.
#include <cstring>
#include <string>

#include "faces/xmp/runtime/redistribution.h"
#include "faces/xmp/runtime/transformations.h"

namespace nagaya::xmp {
namespace {

// The arrays idx1, idx2, ... that give an index in each dimension of `indexed`.
class Subscripts {
 public:
  // Reads one descriptor from `list` for each dimension.
  Subscripts(const Call& call, const Ownership& indexed, const Ownership& with, va_list& list)
      : call_(call), indexed_(indexed) {
    for (size_t d = 0; d < indexed.dimensions(); ++d) {
      const std::string name = "idx" + std::to_string(d + 1);
      const nagaya_xmp_array_state& array = call.array(va_arg(list, xmp_desc_t), name);
      call.need_same_layout(array, with.array());
      all_.emplace_back(array);
    }
  }

  // Returns the number of the element of `indexed` that the subscripts with this number name.
  int64_t number_at(int64_t number) const {
    std::vector<long> index;
    for (size_t d = 0; d < all_.size(); ++d) {
      const nagaya_xmp_array_state& array = all_[d].array();
      index.push_back(call_.integer_at(array, all_[d].address_of(number)));
      if (index[d] < 0 || index[d] >= indexed_.extent(d))
        call_.refuse("an element of " + array.name + " is " + std::to_string(index[d]) + ", but " +
                     indexed_.array().name + " has 0:" + std::to_string(indexed_.extent(d) - 1));
    }
    return indexed_.number_of(index);
  }

 private:
  const Call& call_;
  const Ownership& indexed_;
  std::vector<Ownership> all_;
};

}  // namespace

void scatter(const Call& call, xmp_desc_t x, xmp_desc_t a, va_list& list) {
  const Ownership to(call.array(x, "x")), from(call.array(a, "a"));
  call.need_same_elements(to.array(), from.array());
  const Subscripts subscripts(call, to, from, list);
  Elements elements(from.array().element_bytes);
  if (from.has_first_copy())
    from.for_each_own([&](int64_t number, const std::byte* value) {
      elements.add(subscripts.number_at(number), value);
    });
  deliver(to, elements);
}

void gather(const Call& call, xmp_desc_t x, xmp_desc_t a, va_list& list) {
  const Ownership to(call.array(x, "x")), from(call.array(a, "a"));
  call.need_same_elements(to.array(), from.array());
  const Subscripts subscripts(call, from, to, list);
  std::vector<int64_t> wanted;
  to.for_each_own(
      [&](int64_t number, std::byte*) { wanted.push_back(subscripts.number_at(number)); });
  const Bytes values = fetch(from, wanted);
  const size_t bytes = to.array().element_bytes;
  size_t n = 0;
  to.for_each_own(
      [&](int64_t, std::byte* at) { std::memcpy(at, values.data() + bytes * n++, bytes); });
}

}  // namespace nagaya::xmp
