// SPDX-License-Identifier: BSD-3-Clause
// redistribution.h - moves elements of arrays between the executing nodes, by their numbers
// (ownership.h). All executing nodes call each of these functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "faces/xmp/runtime/ownership.h"

namespace nagaya::xmp {

using Bytes = std::vector<std::byte>;

// The program fails unless `is_so`: what other nodes have sent does not fit to the caller's arrays.
void check_agreement(bool is_so);

void append(Bytes& to, const void* data, size_t bytes);

// Calls take(number, value) for each number in bytes from another node; behind each are
// `value_bytes` bytes of its value.
void for_each_number(const Bytes& received, size_t value_bytes, auto take) {
  check_agreement(received.size() % (sizeof(int64_t) + value_bytes) == 0);
  for (size_t at = 0; at < received.size(); at += sizeof(int64_t) + value_bytes) {
    int64_t number;
    std::memcpy(&number, &received[at], sizeof number);
    take(number, received.data() + at + sizeof number);
  }
}

// Sends sent[n] to the executing node n; returns what each has sent to the caller.
std::vector<Bytes> exchange(const std::vector<Bytes>& sent);
// Returns the sum of `count` over the executing nodes before the caller.
int64_t sum_before(int64_t count);

// Elements with their numbers; each value has the array's element size.
class Elements {
 public:
  explicit Elements(size_t element_bytes) : element_bytes_(element_bytes) {}
  void add(int64_t number, const std::byte* value);
  size_t size() const { return numbers_.size(); }
  size_t element_bytes() const { return element_bytes_; }
  int64_t number(size_t n) const { return numbers_[n]; }
  const std::byte* value(size_t n) const { return values_.data() + n * element_bytes_; }

 private:
  size_t element_bytes_;
  std::vector<int64_t> numbers_;
  Bytes values_;
};

// Stores the elements in all copies of the array.
void deliver(const Ownership& to, const Elements& elements);
// Returns the values of the array's elements of these numbers, in their order.
Bytes fetch(const Ownership& from, const std::vector<int64_t>& numbers);

}  // namespace nagaya::xmp
