// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/arrays.h"

#include <errno.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "faces/xmp/runtime/asynchronous.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/job.h"
#include "xmp/xmp.h"

using nagaya::xmp::fail;

nagaya_xmp_array_state::nagaya_xmp_array_state(std::string of_name, size_t bytes, int dimensions,
                                               const long* extent,
                                               const nagaya_xmp_template* on_template,
                                               const nagaya_xmp_alignment* alignment)
    : Descriptor{XMP_DESC_ARRAY},
      name(std::move(of_name)),
      element_bytes(bytes),
      extents(extent, extent + dimensions),
      with(on_template),
      alignments(alignment, alignment + dimensions) {}

namespace {

// The program fails if a reflect of the array has failed behind its directive.
void check_reflects(const nagaya_xmp_array_state& array, int error) {
  // -ESRCH is no error here: a forked child has a copy of the array, which ends with the child.
  if (error != 0 && error != -ESRCH)
    nagaya::xmp::fail(
        nullptr, "a reflect of " + array.name + " has failed: " + nagaya::xmp::reason_of(error));
}

}  // namespace

nagaya_xmp_array_state::~nagaya_xmp_array_state() {
  close();
}

void nagaya_xmp_array_state::close() {
  placeholder.reset();
  rows.clear();
  if (blocks_here != nullptr) nagaya_array_blocks_close(std::exchange(blocks_here, nullptr));
  if (blocks != nullptr) check_reflects(*this, nagaya_array_close(std::exchange(blocks, nullptr)));
}

bool nagaya_xmp_array_state::has_same_layout(const nagaya_xmp_array_state& other) const {
  const auto are_same = [](const nagaya_xmp_alignment& a, const nagaya_xmp_alignment& b) {
    return a.dimension == b.dimension && (a.dimension < 0 || a.offset == b.offset) &&
           a.shadow_low == b.shadow_low && a.shadow_high == b.shadow_high;
  };
  const auto may_be_same = [](long a, long b) { return a == b || a < 0 || b < 0; };
  return element_bytes == other.element_bytes &&
         std::ranges::equal(extents, other.extents, may_be_same) &&
         with->has_same_layout(*other.with) &&
         std::ranges::equal(alignments, other.alignments, are_same);
}

nagaya_interval nagaya_xmp_array_state::own_places(size_t d) const {
  const auto along = static_cast<size_t>(alignments[d].dimension);
  const nagaya_distribution of = with->distribution(along);
  const uint32_t own = with->onto->own_coordinate(static_cast<size_t>(with->axis(along)));
  const long low = alignments[d].offset;
  return {nagaya_distribution_count_below(&of, own, low),
          nagaya_distribution_count_below(&of, own, low + extents[d]) - 1};
}

bool nagaya_xmp_array_state::has_own_index(size_t d, long index) const {
  const nagaya_xmp_alignment& alignment = alignments[d];
  if (has_places(d)) {
    const auto along = static_cast<size_t>(alignment.dimension);
    const long at = index + alignment.offset;
    return index >= 0 && index < extents[d] && with->has_own_index(along, at, at, 1);
  }
  const nagaya_interval room = own_room(d);
  return index >= room.low && index <= room.high;
}

nagaya_interval nagaya_xmp_array_state::own_part(size_t d) const {
  const nagaya_interval all = {0, extents[d] - 1};
  const nagaya_xmp_alignment& alignment = alignments[d];
  if (alignment.dimension < 0) return all;
  if (is_cyclic(d)) return own_places(d);
  const nagaya_interval part = with->own_part(static_cast<size_t>(alignment.dimension));
  const nagaya_interval own = {std::max(all.low, part.low - alignment.offset),
                               std::min(all.high, part.high - alignment.offset)};
  return own.low <= own.high ? own : nagaya_interval{own.low, own.low - 1};
}

std::pair<long, long> nagaya_xmp_array_state::shadow_widths(size_t d) const {
  if (has_full_shadow(d)) return {extents[d], extents[d]};
  return {alignments[d].shadow_low, alignments[d].shadow_high};
}

nagaya_interval nagaya_xmp_array_state::own_room(size_t d) const {
  if (has_full_shadow(d)) return {0, extents[d] - 1};
  const nagaya_interval own = own_part(d);
  const auto [low, high] = shadow_widths(d);
  return own.low > own.high ? own : nagaya_interval{own.low - low, own.high + high};
}

namespace nagaya::xmp {
namespace {

// Returns all arrays that have been made, by the address of the caller's block.
std::map<const void*, nagaya_xmp_array*>& arrays_by_base() {
  static auto* const all = new std::map<const void*, nagaya_xmp_array*>;
  return *all;
}

nagaya_array_dimension dimension_of(const char* where, const nagaya_xmp_array_state& state,
                                    size_t d) {
  const nagaya_xmp_alignment& alignment = state.alignments[d];
  nagaya_array_dimension dimension = {};
  dimension.extent = state.extents[d];
  dimension.grid_dimension = -1;
  dimension.shadow_low = alignment.shadow_low;
  dimension.shadow_high = alignment.shadow_high;
  if (state.has_full_shadow(d))
    dimension.shadow_low = dimension.shadow_high = NAGAYA_ARRAY_FULL_SHADOW;
  if (state.extents[d] < 1)
    fail(where, "array " + state.name + ": its extent in dimension " + std::to_string(d + 1) +
                    " is " + std::to_string(state.extents[d]) + "; it must be at least 1");
  if (!state.has_full_shadow(d) && (alignment.shadow_low < 0 || alignment.shadow_high < 0))
    fail(where, "array " + state.name + ": its shadow in dimension " + std::to_string(d + 1) +
                    " is " + std::to_string(alignment.shadow_low) + ":" +
                    std::to_string(alignment.shadow_high) + "; a width is not negative");
  if (alignment.dimension < 0) return dimension;
  const auto along = static_cast<size_t>(alignment.dimension);
  const long low = alignment.offset, high = alignment.offset + state.extents[d] - 1;
  if (low < state.with->low(along) || high > state.with->high(along))
    fail(where, "array " + state.name + ": its dimension " + std::to_string(d + 1) +
                    " lies on indexes " + std::to_string(low) + ":" + std::to_string(high) +
                    " of template " + state.with->name + ", which has " +
                    std::to_string(state.with->low(along)) + ":" +
                    std::to_string(state.with->high(along)));
  if (state.with->axis(along) < 0) return dimension;
  dimension.grid_dimension = state.with->axis(along);
  dimension.distribution = state.with->distribution(along);
  dimension.offset = alignment.offset;
  return dimension;
}

}  // namespace

std::vector<nagaya_array_dimension> dimensions_of(const char* where,
                                                  const nagaya_xmp_array_state& state) {
  std::vector<nagaya_array_dimension> dimensions;
  for (size_t d = 0; d < state.dimensions(); ++d)
    dimensions.push_back(dimension_of(where, state, d));
  return dimensions;
}

namespace {

// Lets all that execute the declaration find the blocks of their host: for gmove in, gmove out.
void publish_block(const char* where, nagaya_xmp_array_state& state) {
  ProcessSet& executing = Executing::now();
  state.declared_by = &executing;
  if (executing.size() == 1) return;
  void* const base = state.blocks != nullptr ? nagaya_array_block_of(state.blocks)->base : nullptr;
  const int error = nagaya_array_blocks_open(executing.members(), executing.next_array_name(), base,
                                             &state.blocks_here);
  if (error != 0)
    fail(where, "array " + state.name + ": nagaya_array_blocks_open() says " + reason_of(error));
}

// For a caller that is none of the nodes: instead of a block the array gets an address of its own,
// by which functions that take the array as an argument recognise it.
void set_placeholder(nagaya_xmp_array& array) {
  constexpr size_t kBytes = 64;
  array.state->placeholder = std::make_unique<std::byte[]>(kBytes);
  array.base = reinterpret_cast<char*>(array.state->placeholder.get());
  std::fill_n(array.first, 7, 0);
  std::fill_n(array.count, 7, 1);
  std::fill_n(array.cycle, 7, nagaya_xmp_cycle{0, 1, 1});
}

nagaya_xmp_cycle cycle_of(const nagaya_array_dimension& dimension) {
  const nagaya_distribution& of = dimension.distribution;
  return {static_cast<unsigned long>(of.low - dimension.offset),
          static_cast<unsigned long>(of.width),
          static_cast<unsigned long>(of.width) * of.coordinates};
}

void open_blocks(const char* where, nagaya_xmp_array& array, ProcessSet& set) {
  nagaya_xmp_array_state& state = *array.state;
  const std::vector<nagaya_array_dimension> dimensions = dimensions_of(where, state);
  if (!Executing::now().contains(set))
    fail(where, "array " + state.name + ": not all of nodes " + state.with->onto->name +
                    ", on which it lies, execute its declaration: write it outside of the task");
  const uint64_t name = set.next_array_name();
  if (!set.has_caller()) return set_placeholder(array);
  const std::vector<uint32_t>& extent = state.with->onto->extent;
  const nagaya_array_shape shape = {state.element_bytes, static_cast<uint32_t>(dimensions.size()),
                                    dimensions.data()};
  const nagaya_array_grid grid = {set.members(), static_cast<uint32_t>(extent.size()),
                                  extent.data()};
  const int error =
      nagaya_array_open(&shape, &grid, name, Job::own().has_halo_messages(), &state.blocks);
  if (error == -ENOMEM)
    fail(where, "array " + state.name + ": there is no memory for its block: take more nodes");
  if (error != 0) fail(where, "array " + state.name + ": " + reason_of(error));
  const nagaya_array_block& block = *nagaya_array_block_of(state.blocks);
  array.base = static_cast<char*>(block.base);
  std::copy_n(block.first, 7, array.first);
  std::copy_n(block.count, 7, array.count);
  for (size_t d = 0; d < state.dimensions(); ++d)
    if (state.has_places(d)) array.cycle[d] = cycle_of(dimensions[d]);
}

}  // namespace

void make_blocks(const char* where, nagaya_xmp_array& array) {
  open_blocks(where, array, array.state->with->onto->set);
  publish_block(where, *array.state);
  arrays_by_base()[array.base] = &array;
}

void allocate_blocks(nagaya_xmp_array& array, const long* extent) {
  nagaya_xmp_array_state& state = *array.state;
  state.with->check_usable(nullptr);
  if (array.base != nullptr)
    fail(nullptr, "array " + state.name + " has memory already: xmp_free must come before");
  state.extents.assign(extent, extent + state.dimensions());
  make_blocks(nullptr, array);
}

void free_blocks(nagaya_xmp_array& array) {
  nagaya_xmp_array_state& state = *array.state;
  if (array.base == nullptr) return;
  complete_reflect_of(state);
  arrays_by_base().erase(array.base);
  array.base = nullptr;
  state.close();
  state.extents.assign(state.dimensions(), -1);
}

void leave_all_blocks() {
  for (const auto& [base, array] : arrays_by_base()) {
    nagaya_xmp_array_state& state = *array->state;
    if (state.blocks_here != nullptr) nagaya_array_blocks_leave(state.blocks_here);
    if (state.blocks != nullptr) check_reflects(state, nagaya_array_wait_sent(state.blocks));
  }
}

void close_all_blocks() {
  while (!arrays_by_base().empty()) nagaya_xmp_free_array(arrays_by_base().begin()->second);
}

nagaya_xmp_array* array_of_block(const void* base) {
  const auto found = arrays_by_base().find(base);
  return found == arrays_by_base().end() ? nullptr : found->second;
}

nagaya_xmp_array* array_before(const void* place) {
  const auto next = arrays_by_base().upper_bound(place);
  return next == arrays_by_base().begin() ? nullptr : std::prev(next)->second;
}

nagaya_xmp_array_state& state_of(const char* where, const nagaya_xmp_array& array) {
  if (array.state == nullptr) fail(where, "an array is used before its declaration");
  if (array.base == nullptr) array.state->with->check_usable(where);
  if (array.base == nullptr)
    fail(where, "array " + array.state->name + " has no memory: its xmp_malloc must come before");
  if (array.state->is_row)
    fail(where, "the argument is a row of array " + array.state->name +
                    ": a function only computes with the elements of a row");
  return *array.state;
}

}  // namespace nagaya::xmp

void nagaya_xmp_declare_array(const char* where, nagaya_xmp_array* array, const char* name,
                              unsigned long element_bytes, int dimensions, const long* extent,
                              const nagaya_xmp_template* with,
                              const nagaya_xmp_alignment* alignment) {
  auto state = std::make_unique<nagaya_xmp_array_state>(name, element_bytes, dimensions, extent,
                                                        with, alignment);
  if (array->state != nullptr) {
    if (!with->is_usable() && with != array->state->with)
      fail(where, "array " + array->state->name +
                      ": another file declares it, too, but the template " + with->name +
                      " has no bounds before a template_fix, which is of one file");
    if (!array->state->has_same_layout(*state))
      fail(where,
           "array " + array->state->name +
               ": another file declares it with another element, extent, alignment or shadow");
    return;
  }
  array->state = state.release();
  array->state->array = array;
  array->base = nullptr;
  if (!array->state->has_extents()) return;
  if (with->is_usable())
    nagaya::xmp::make_blocks(where, *array);
  else
    const_cast<nagaya_xmp_template*>(with)->waiting_arrays.push_back(array);
}

void nagaya_xmp_free_array(nagaya_xmp_array* array) {
  if (array->state == nullptr) return;
  nagaya_xmp_array_state* const state = std::exchange(array->state, nullptr);
  nagaya::xmp::complete_reflect_of(*state);
  if (array->base == nullptr)
    std::erase(const_cast<nagaya_xmp_template*>(state->with)->waiting_arrays, array);
  else
    nagaya::xmp::arrays_by_base().erase(array->base);
  array->base = nullptr;
  delete state;
}

void nagaya_xmp_free_block(void* base) {
  if (base == nullptr) return;
  nagaya_xmp_array* const array = nagaya::xmp::array_of_block(base);
  if (array == nullptr)
    fail(nullptr, "free of an aligned pointer that is no block of a distributed array");
  nagaya::xmp::free_blocks(*array);
}
