// SPDX-License-Identifier: BSD-3-Clause
// data.h - the memory that a communication's variable means, as C text.
#pragma once

#include <string>

#include "checks/program.h"

namespace nagaya::xmp {

struct Data {
  std::string first;    // its first element, an lvalue
  std::string address;  // of that, a void *
  std::string count;    // of its elements
  bool scalar;          // a variable of its own, not an element of one
  std::string bytes() const { return "(" + count + ") * sizeof(" + first + ")"; }
};

Data data_of(const Program& program, const DataReference& reference, size_t offset);

}  // namespace nagaya::xmp
