// SPDX-License-Identifier: BSD-3-Clause
// data.h - the memory of a communication's variable, as C text.
#pragma once

#include <string>

#include "checks/program.h"

namespace nagaya::xmp {

struct Data {
  std::string first;    // its first element, an lvalue
  std::string address;  // of the first element, a void *
  std::string count;    // number of elements
  bool scalar;          // a whole variable that is no array
  std::string bytes() const { return "(" + count + ") * sizeof(" + first + ")"; }
};

Data data_of(const Program& program, const DataReference& reference, size_t offset);

}  // namespace nagaya::xmp
