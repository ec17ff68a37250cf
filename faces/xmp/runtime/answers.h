// SPDX-License-Identifier: BSD-3-Clause
// answers.h - the form in which the inquiry functions of xmp/xmp.h answer.
#pragma once

#include <cstddef>
#include <optional>

#include "faces/xmp/runtime/nodes.h"
#include "faces/xmp/runtime/templates.h"
#include "xmp/xmp.h"

namespace nagaya::xmp {

inline const nagaya_xmp_nodes* nodes_of(xmp_desc_t d) {
  return object_of<nagaya_xmp_nodes>(d, XMP_DESC_NODES);
}

inline const nagaya_xmp_template* template_of(xmp_desc_t d) {
  return object_of<nagaya_xmp_template>(d, XMP_DESC_TEMPLATE);
}

using Answer = std::optional<long>;

// Stores the answer in *out and returns 0. Without an answer, or if it does not fit into an int,
// stores XMP_UNDEFINED and returns XMP_FAILURE.
inline int store(Answer answer, int* out) {
  if (answer && *answer != static_cast<int>(*answer)) answer.reset();
  *out = static_cast<int>(answer.value_or(XMP_UNDEFINED));
  return answer.has_value() ? 0 : XMP_FAILURE;
}

// Stores the answer of ask(*of); fails if `of` is a null pointer.
int answer(const auto* of, int* out, auto ask) {
  return store(of == nullptr ? Answer() : ask(*of), out);
}

// Stores the answer of ask(*of, d) for dimension `dim` of nodes or a template. The program counts
// these from 1, beginning with the last dimension of C.
int answer(const auto* of, int dim, int* out, auto ask) {
  const int dimensions = of == nullptr ? 0 : static_cast<int>(of->dimensions());
  if (dim < 1 || dim > dimensions) return store(std::nullopt, out);
  return store(ask(*of, static_cast<size_t>(dimensions - dim)), out);
}

// Returns the program's number of dimension d of nodes or a template; nothing if d is negative.
inline Answer program_dimension(size_t dimensions, int d) {
  return d < 0 ? Answer() : static_cast<long>(dimensions) - d;
}

}  // namespace nagaya::xmp
