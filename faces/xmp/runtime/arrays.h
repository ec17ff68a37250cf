// SPDX-License-Identifier: BSD-3-Clause
// arrays.h - a declaration of a distributed array.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "faces/xmp/runtime/descriptor.h"
#include "faces/xmp/runtime/templates.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/array.h"

struct nagaya_xmp_array_state : nagaya::xmp::Descriptor {
  nagaya_xmp_array_state(std::string name, size_t element_bytes, int dimensions, const long* extent,
                         const nagaya_xmp_template* with, const nagaya_xmp_alignment* alignment);
  ~nagaya_xmp_array_state();

  size_t dimensions() const { return extents.size(); }
  // Of the same element, extents, alignment and shadow.
  bool is_like(const nagaya_xmp_array_state& other) const;
  // The indexes of dimension d that the caller has, without the shadow; none: high is low - 1. The
  // caller is one of the nodes.
  nagaya_interval own_part(size_t d) const;

  const nagaya_xmp_array* array = nullptr;  // the owner of this state
  const std::string name;
  const size_t element_bytes;
  const std::vector<long> extents;
  const nagaya_xmp_template* const with;
  const std::vector<nagaya_xmp_alignment> alignments;
  nagaya_array* blocks = nullptr;              // of the nodes that it is on, if the caller is one
  std::unique_ptr<std::byte[]> place_of_none;  // else: an address of its own
};

namespace nagaya::xmp {

// Makes the caller's block, of an array whose template can be used.
void make_blocks(const char* where, nagaya_xmp_array& array);

// Before the process ends.
void close_all_blocks();

// The state of an array that has been made, or the program fails.
nagaya_xmp_array_state& state_of(const char* where, const nagaya_xmp_array& array);

}  // namespace nagaya::xmp
