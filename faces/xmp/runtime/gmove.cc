// SPDX-License-Identifier: BSD-3-Clause
// gmove.cc - the directive gmove.
#include <errno.h>

#include <algorithm>
#include <string>
#include <vector>

#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/array.h"

namespace nagaya::xmp {
namespace {

// A side of the assignment in the form that nagaya/array.h takes. It refers to its own members.
class Side {
 public:
  Side(const char* where, const nagaya_xmp_side& side) {
    if (side.array != nullptr)
      take_array(where, *side.array);
    else
      take_variable(side);
    for (size_t d = 0; d < dimensions_.size(); ++d)
      section_.push_back(triplet_of(where, side.subscript, d));
    shape_.dimensions = static_cast<uint32_t>(dimensions_.size());
    shape_.dimension = dimensions_.data();
    side_.shape = &shape_;
    side_.section = section_.data();
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  const nagaya_array_side& form() const { return side_; }
  const nagaya_xmp_array_state* array() const { return array_; }
  // The lengths of the sections.
  const std::vector<int64_t>& lengths() const { return lengths_; }
  bool is_empty() const { return std::ranges::count(lengths_, 0) != 0; }

 private:
  void take_array(const char* where, const nagaya_xmp_array& array) {
    array_ = &state_of(where, array);
    name_ = "array " + array_->name;
    const nagaya_xmp_nodes& onto = *array_->with->onto;
    dimensions_ = dimensions_of(where, *array_);
    grid_ = {onto.set.members(), static_cast<uint32_t>(onto.extent.size()), onto.extent.data()};
    side_.grid = &grid_;
    shape_.element_bytes = array_->element_bytes;
    if (array_->blocks != nullptr) side_.base = array.base;
  }

  void take_variable(const nagaya_xmp_side& side) {
    shape_.element_bytes = side.element_bytes;
    side_.base = side.data;
    // A scalar is an array of one element.
    dimensions_.resize(static_cast<size_t>(std::max(side.dimensions, 1)));
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      dimensions_[d] = {};
      dimensions_[d].extent = side.dimensions == 0 ? 1 : side.extent[d];
      dimensions_[d].grid_dimension = -1;
    }
  }

  // Returns the indexes of dimension d, after it has found its extent if that is not known.
  nagaya_array_triplet triplet_of(const char* where, const nagaya_xmp_triplet* subscript,
                                  size_t d) {
    if (subscript == nullptr) return {0, 1, 0};
    const nagaya_xmp_triplet& given = subscript[d];
    int64_t& extent = dimensions_[d].extent;
    const std::string what = "gmove: dimension " + std::to_string(d + 1) + " of " + name_;
    if (!given.is_section) {
      if (extent < 0) extent = given.base + 1;
      check_inside(where, what, given.base, extent);
      return {given.base, 1, 0};
    }
    if (given.step == 0) fail(where, what + ": the step of the section is 0");
    int64_t length = given.length;
    if (given.has_length == 0) {
      if (extent < 0) fail(where, what + " has no known extent: write the length of the section");
      // A section from behind the last index is empty.
      if (given.base != extent) check_inside(where, what, given.base, extent);
      length = given.step > 0 ? (extent - given.base + given.step - 1) / given.step
                              : given.base / -given.step + 1;
    }
    if (length < 0) fail(where, what + ": the length of the section is " + std::to_string(length));
    lengths_.push_back(length);
    const int64_t last = given.base + (length - 1) * given.step;
    if (extent < 0) extent = std::max<int64_t>({given.base, last, 0}) + 1;
    if (length == 0) return {0, 1, 0};
    check_inside(where, what, given.base, extent);
    check_inside(where, what, last, extent);
    return {given.base, length, length == 1 ? 0 : given.step};
  }

  static void check_inside(const char* where, const std::string& what, int64_t index,
                           int64_t extent) {
    if (index < 0 || index >= extent)
      fail(where, what + " has indexes 0:" + std::to_string(extent - 1) + ", not " +
                      std::to_string(index));
  }

  const nagaya_xmp_array_state* array_ = nullptr;
  std::string name_ = "the variable";
  std::vector<nagaya_array_dimension> dimensions_;
  std::vector<nagaya_array_triplet> section_;
  std::vector<int64_t> lengths_;
  nagaya_array_shape shape_{};
  nagaya_array_grid grid_{};
  nagaya_array_side side_{};
};

std::string text_of(const std::vector<int64_t>& lengths) {
  std::string text;
  for (const int64_t length : lengths) text += (text.empty() ? "" : " x ") + std::to_string(length);
  return text;
}

void check_conformable(const char* where, const Side& to, const Side& from) {
  if (!from.lengths().empty() && from.lengths() != to.lengths())
    fail(where, "gmove: the left side has " + text_of(to.lengths()) + " elements, the right side " +
                    text_of(from.lengths()));
  if (to.form().shape->element_bytes != from.form().shape->element_bytes)
    fail(where, "gmove: the sides have elements of " +
                    std::to_string(to.form().shape->element_bytes) + " and " +
                    std::to_string(from.form().shape->element_bytes) + " bytes");
}

bool is_executing(const Side& side) {
  return side.array() == nullptr || Executing::now().contains(side.array()->with->onto->set);
}

void check_executing_side(const char* where, const Side& side) {
  if (!is_executing(side))
    fail(where, "gmove: not all of nodes " + side.array()->with->onto->name + ", on which " +
                    side.array()->name + " lies, execute this: write it outside of the task");
}

// Returns where the block of the process with this rank in the job begins.
void* base_of(void* state, uint32_t job_rank) {
  const auto& array = *static_cast<const nagaya_xmp_array_state*>(state);
  const int64_t index = array.declared_by->index_of(job_rank);
  return nagaya_array_blocks_at(array.blocks_here, static_cast<uint32_t>(index));
}

// Assigns without the nodes of one side: `in`, those of the source, else those of the target.
int assign_alone(bool in, const Side& to, const Side& from) {
  const nagaya_processes* const all = ProcessSet::world().members();
  void* const other = const_cast<nagaya_xmp_array_state*>((in ? from : to).array());
  if (in) return nagaya_array_get(all, &to.form(), &from.form(), base_of, other);
  std::vector<uint8_t> acts(ProcessSet::world().size());
  for (uint32_t rank = 0; rank < acts.size(); ++rank)
    acts[rank] = Executing::now().index_of(rank) >= 0;
  return nagaya_array_put(all, acts.data(), &to.form(), &from.form(), base_of, other);
}

}  // namespace
}  // namespace nagaya::xmp

void nagaya_xmp_gmove(const char* where, nagaya_xmp_gmove_mode mode, const long*,
                      nagaya_xmp_side to, nagaya_xmp_side from) {
  using namespace nagaya::xmp;
  const Side target(where, to), source(where, from);
  check_conformable(where, target, source);
  if (mode != NAGAYA_XMP_GMOVE_OUT) check_executing_side(where, target);
  if (mode != NAGAYA_XMP_GMOVE_IN) check_executing_side(where, source);
  if (target.is_empty()) return;
  const int error = is_executing(target) && is_executing(source)
                        ? nagaya_array_transfer(&Executing::now().transfers(where), &target.form(),
                                                &source.form())
                        : assign_alone(mode == NAGAYA_XMP_GMOVE_IN, target, source);
  if (error == -EHOSTUNREACH)
    fail(where,
         "gmove: a part lies on another host, whose nodes do not execute this: that is not "
         "supported yet; write it outside of the task");
  if (error != 0) fail(where, "the gmove has failed: " + reason_of(error));
}
