// SPDX-License-Identifier: BSD-3-Clause
// transformations.h - what the transformational functions of the specification (7.5) have in
// common. Their arguments are descriptors; all executing nodes call them.
#pragma once

#include <cstdarg>
#include <string>

#include "faces/xmp/runtime/arrays.h"
#include "xmp/xmp.h"

namespace nagaya::xmp {

// One call. The program fails where an argument is wrong; the function's name begins the message.
class Call {
 public:
  explicit Call(std::string name) : name_(std::move(name)) {}

  [[noreturn]] void refuse(const std::string& what) const;
  void need(bool is_so, const std::string& what) const {
    if (!is_so) refuse(what);
  }
  // Returns the array, which has blocks; the executing nodes contain its nodes.
  const nagaya_xmp_array_state& array(xmp_desc_t descriptor, const std::string& argument) const;
  const nagaya_xmp_array_state& vector(xmp_desc_t descriptor, const std::string& argument) const;
  const nagaya_xmp_array_state& matrix(xmp_desc_t descriptor, const std::string& argument) const;
  void need_same_elements(const nagaya_xmp_array_state& a, const nagaya_xmp_array_state& b) const;
  void need_same_layout(const nagaya_xmp_array_state& a, const nagaya_xmp_array_state& b) const;
  // Returns the value of an integer of the array's type.
  long integer_at(const nagaya_xmp_array_state& array, const std::byte* at) const;

 private:
  const std::string name_;
};

// `list` has a descriptor for each dimension of the indexed array.
void scatter(const Call& call, xmp_desc_t x, xmp_desc_t a, va_list& list);
void gather(const Call& call, xmp_desc_t x, xmp_desc_t a, va_list& list);
// A null pointer as `mask` selects all elements.
void pack(const Call& call, xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask);
void unpack(const Call& call, xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask);
void transpose(const Call& call, xmp_desc_t x, xmp_desc_t a);
void matmul(const Call& call, xmp_desc_t x, xmp_desc_t a, xmp_desc_t b);
void sort(const Call& call, xmp_desc_t v1, xmp_desc_t v2, bool is_downwards);

}  // namespace nagaya::xmp
