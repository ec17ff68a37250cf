// SPDX-License-Identifier: BSD-3-Clause
// templates.h - a declaration of a template: its indexes, and their distribution onto nodes.
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
  // The program fails unless the template is fixed and distributed.
  void check_usable(const char* where) const;
  bool is_usable() const { return is_fixed && onto != nullptr && has_sizes; }

  // ---- for distributed templates only

  // Returns the dimension of the nodes that dimension d is distributed onto; -1: not distributed.
  int axis(size_t d) const { return axes[d]; }
  // Returns the distribution of dimension d. The dimension must be distributed and the template
  // fixed.
  nagaya_distribution distribution(size_t d) const;
  // Returns the width of a block or run in dimension d: the program's, or the default for `block`.
  long width(size_t d) const;
  bool is_cyclic(size_t d) const { return kinds[d].kind == NAGAYA_XMP_CYCLIC; }
  // Returns the caller's indexes of dimension d, which is not cyclic: all indexes if it is not
  // distributed. The caller must be one of the nodes.
  nagaya_interval own_part(size_t d) const;
  // Whether the caller, one of the nodes, has one of the indexes low, low + step, ... up to high.
  bool has_own_index(size_t d, long low, long high, long step) const;
  // Whether both have the same indexes, distributed in the same way onto the same nodes.
  bool has_same_layout(const nagaya_xmp_template& other) const;

  const std::string name;
  bool is_fixed = false;
  std::vector<nagaya_interval> bounds;
  const nagaya_xmp_nodes* onto = nullptr;
  std::vector<nagaya_xmp_distribution> kinds;  // their pointers to sizes are the program's
  // For each gblock dimension: its sizes, and the first index of each coordinate.
  std::vector<std::vector<int64_t>> sizes, begins;
  bool has_sizes = false;  // unless a gblock(*) waits for a template_fix
  std::vector<int> axes;
  std::vector<nagaya_xmp_array*> waiting_arrays;  // arrays to make when the template becomes usable
  mutable nagaya::xmp::KnownSets known_sets;
};
