// SPDX-License-Identifier: BSD-3-Clause
// arrays.h - a declaration of a distributed array.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "faces/xmp/runtime/descriptor.h"
#include "faces/xmp/runtime/templates.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/array.h"

struct nagaya_xmp_array_state : nagaya::xmp::Descriptor {
  nagaya_xmp_array_state(std::string name, size_t element_bytes, int dimensions, const long* extent,
                         const nagaya_xmp_template* with, const nagaya_xmp_alignment* alignment);
  ~nagaya_xmp_array_state();
  // Closes the array of blocks; the program fails if one of its reflects has failed.
  void close();

  size_t dimensions() const { return extents.size(); }
  bool has_extents() const { return extents.front() >= 0; }
  // Whether both have the same element size, extents, alignment and shadow.
  bool has_same_layout(const nagaya_xmp_array_state& other) const;
  bool is_cyclic(size_t d) const {
    return alignments[d].dimension >= 0 &&
           with->is_cyclic(static_cast<size_t>(alignments[d].dimension));
  }
  // Whether elements lie by the place of their index in dimension d; else they lie by the index.
  bool has_places(size_t d) const { return is_cyclic(d) && !has_full_shadow(d); }
  // Returns the caller's indexes of dimension d, without the shadow, or the places of these in a
  // cyclic dimension; if it has none, high is low - 1. The caller must be one of the nodes.
  nagaya_interval own_part(size_t d) const;
  // Whether the caller, one of the nodes, has this index, or its shadow has it.
  bool has_own_index(size_t d, long index) const;
  nagaya_interval own_places(size_t d) const;  // of a cyclic dimension, for own_part()

  bool has_full_shadow(size_t d) const {
    return alignments[d].shadow_low == NAGAYA_XMP_FULL_SHADOW;
  }
  // Returns the shadow's widths below and above the block in dimension d; of a full shadow both are
  // the extent.
  std::pair<long, long> shadow_widths(size_t d) const;
  // Returns the caller's indexes of dimension d with its shadow; of a full shadow all of them.
  nagaya_interval own_room(size_t d) const;

  const nagaya_xmp_array* array = nullptr;  // the owner of this state
  const std::string name;
  const size_t element_bytes;
  int type = -1;  // of the elements, a nagaya_xmp_type; -1: no number, or no descriptor yet
  std::vector<long> extents;  // -1: of a pointer, before xmp_malloc
  const nagaya_xmp_template* const with;
  const std::vector<nagaya_xmp_alignment> alignments;
  nagaya_array* blocks = nullptr;  // the opened array; nullptr: the caller is none of its nodes
  // The blocks on this host, by the number in `declared_by`, the nodes that have executed the
  // declaration; nullptr: that is one process.
  nagaya_array_blocks* blocks_here = nullptr;
  const nagaya::xmp::ProcessSet* declared_by = nullptr;
  // If the caller is none of the nodes: memory whose address identifies the array all the same.
  std::unique_ptr<std::byte[]> placeholder;
  // The rows that have been arguments, by their address and number of dimensions (formal.cc).
  std::map<std::pair<const void*, size_t>, std::shared_ptr<const nagaya_xmp_array>> rows;
  bool is_row = false;  // this is one of these, with the `blocks` of its array
};

namespace nagaya::xmp {

// Makes the caller's block of an array whose template is fixed and distributed.
void make_blocks(const char* where, nagaya_xmp_array& array);

// Makes the block of an aligned pointer's array. The program fails if it has one already, or if its
// template is not fixed.
void allocate_blocks(nagaya_xmp_array& array, const long* extent);
// Frees such a block; the pointer keeps its alignment.
void free_blocks(nagaya_xmp_array& array);

// Returns the dimensions of an array whose template is fixed and distributed.
std::vector<nagaya_array_dimension> dimensions_of(const char* where,
                                                  const nagaya_xmp_array_state& state);

// Returns the array whose block at the caller begins at `base`; nullptr: there is none.
nagaya_xmp_array* array_of_block(const void* base);
// Returns the last array whose block at the caller begins at `place` or before; nullptr: none does.
nagaya_xmp_array* array_before(const void* place);

// Both are called before the process ends. It uses no block of other nodes any more, and waits
// until they have received its halos (if that fails, the program does); it frees all arrays that
// have blocks.
void leave_all_blocks();
void close_all_blocks();

// Returns the array's state; the program fails if its block has not been made, or if it is a row.
nagaya_xmp_array_state& state_of(const char* where, const nagaya_xmp_array& array);

}  // namespace nagaya::xmp
