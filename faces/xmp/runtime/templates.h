// SPDX-License-Identifier: BSD-3-Clause
// templates.h - a declaration of a template: indexes, and how they lie on nodes.
#pragma once

#include <string>
#include <vector>

#include "faces/xmp/runtime/descriptor.h"
#include "faces/xmp/runtime/nodes.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/array.h"

struct nagaya_xmp_template : nagaya::xmp::Descriptor {
  nagaya_xmp_template(std::string name, size_t dimensions);

  size_t dimensions() const { return bounds.size(); }
  long low(size_t d) const { return bounds[d].low; }
  long high(size_t d) const { return bounds[d].high; }
  // It is fixed and distributed, or the program fails.
  void check_usable(const char* where) const;
  bool is_usable() const { return is_fixed && onto != nullptr; }

  // ---- of one that is distributed

  // The dimension of the nodes; -1: it is not distributed.
  int axis(size_t d) const { return axes[d]; }
  // Of a dimension that is distributed, of a template that is fixed, too.
  nagaya_distribution distribution(size_t d) const;
  // Of a block, as the program has it.
  long width(size_t d) const;
  // The caller's part of any dimension: all of it where it is not distributed. The caller is one of
  // the nodes.
  nagaya_interval own_part(size_t d) const;
  // Whether indexes lie where those of `other` lie.
  bool is_like(const nagaya_xmp_template& other) const;

  const std::string name;
  bool is_fixed = false;
  std::vector<nagaya_interval> bounds;
  const nagaya_xmp_nodes* onto = nullptr;
  std::vector<nagaya_xmp_distribution> kinds;
  std::vector<int> axes;
  std::vector<nagaya_xmp_array*> waiting;  // to be made when it can be used
  mutable nagaya::xmp::KnownSets known;
};
