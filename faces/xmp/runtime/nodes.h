// SPDX-License-Identifier: BSD-3-Clause
// nodes.h - a declaration of nodes: processes in a grid.
#pragma once

#include <string>
#include <vector>

#include "faces/xmp/runtime/descriptor.h"
#include "faces/xmp/runtime/known_sets.h"
#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/translated.h"

// Dimensions are in the order of C: process numbers increase fastest along the last one.
struct nagaya_xmp_nodes : nagaya::xmp::Descriptor {
  using ProcessSet = nagaya::xmp::ProcessSet;

  // A section of other nodes in one of their dimensions: each `step`th of low .. high.
  struct SectionRange {
    long low, high, step;
  };
  // The coordinates that a subscript chooses in one dimension.
  using Choice = std::vector<uint32_t>;

  nagaya_xmp_nodes(std::string name, bool brackets, std::vector<uint32_t> extent, ProcessSet& set);

  size_t dimensions() const { return extent.size(); }
  // Returns the caller's coordinate in dimension d. The caller must be a member.
  uint32_t own_coordinate(size_t d) const {
    return static_cast<uint32_t>(set.own_index()) / stride(d) % extent[d];
  }
  // Returns the set of members whose coordinates are chosen in every dimension. No choice may be
  // empty.
  ProcessSet& section(const std::vector<Choice>& chosen) const;

  const std::string name;
  const bool brackets;
  const std::vector<uint32_t> extent;
  ProcessSet& set;
  int attribute;                             // XMP_ENTIRE_NODES, ...
  const nagaya_xmp_nodes* parent = nullptr;  // the nodes that these are a section of; nullptr: none
  std::vector<SectionRange> section_ranges;  // the section in each dimension of `parent`
  mutable nagaya::xmp::KnownSets known_sets;

 private:
  uint32_t stride(size_t d) const;
};
