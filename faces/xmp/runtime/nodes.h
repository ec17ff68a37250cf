// SPDX-License-Identifier: BSD-3-Clause
// nodes.h - a declaration of nodes: processes in a grid.
#pragma once

#include <string>
#include <vector>

#include "faces/xmp/runtime/descriptor.h"
#include "faces/xmp/runtime/known_sets.h"
#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/translated.h"

// Dimensions are in the order of C: the number of a process runs fastest along the last one.
struct nagaya_xmp_nodes : nagaya::xmp::Descriptor {
  using ProcessSet = nagaya::xmp::ProcessSet;

  // A section of other nodes, along one of their dimensions.
  struct Part {
    long low, high, step;
  };
  // The coordinates that are chosen in a dimension.
  using Choice = std::vector<uint32_t>;

  nagaya_xmp_nodes(std::string name, bool brackets, std::vector<uint32_t> extent, ProcessSet& set);

  size_t dimensions() const { return extent.size(); }
  // The caller's coordinate; it is a member.
  uint32_t own(size_t d) const { return static_cast<uint32_t>(set.own()) / stride(d) % extent[d]; }
  // The members whose coordinates are chosen in each dimension, which has some.
  ProcessSet& section(const std::vector<Choice>& chosen) const;

  const std::string name;
  const bool brackets;
  const std::vector<uint32_t> extent;
  ProcessSet& set;
  int attribute;                         // XMP_ENTIRE_NODES, ...
  const nagaya_xmp_nodes* of = nullptr;  // a section of these, ...
  std::vector<Part> parts;               // by the dimension of `of`
  mutable nagaya::xmp::KnownSets known;

 private:
  uint32_t stride(size_t d) const;
};
