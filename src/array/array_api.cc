// SPDX-License-Identifier: BSD-3-Clause
// array_api.cc - the C functions of nagaya/array.h.
#include <errno.h>

#include <algorithm>
#include <memory>

#include "array/array.h"
#include "array/pending_reflects.h"
#include "array/statistics.h"
#include "base/catch_errors.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/processes.h"

using nagaya::array::Array;
using nagaya::array::PendingReflects;
using nagaya::array::Shape;
using nagaya::array::Statistics;
using nagaya::array::Transport;
using nagaya::base::catch_errors;
using nagaya::llcl::Endpoint;

struct nagaya_array : Array {
  using Array::Array;
};

namespace {

// Waits until is_over(). A grid of one process never waits: it may be outside of a space, where
// there is no endpoint.
template <class IsOver>
void wait(IsOver is_over) {
  if (!is_over()) Endpoint::own()->wait(nagaya::llcl::Purpose::kArray, is_over);
}

// Whether the caller is a forked child that has a copy of an array of several processes.
bool is_of_parent(const nagaya_array& array) {
  return array.size() > 1 && Endpoint::own() == nullptr;
}

// Starts a reflect or, with `combine`, a reduction, and waits until it is complete.
int run(nagaya_array* array, const nagaya_array_width* width, int orthogonal,
        nagaya_array_combine* combine) {
  if (is_of_parent(*array)) return -ESRCH;
  const int error = catch_errors([&] {
    return array->start_reflect({width, array->dimensions()}, orthogonal != 0, combine);
  });
  if (error != 0) return error;
  wait([array] { return array->advance(); });
  return std::min(array->take_result(), 0);
}

int start(nagaya_array* array, const nagaya_array_width* width, int orthogonal,
          nagaya_array_combine* combine) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return run(array, width, orthogonal, combine);
  return catch_errors([&] {
    const int error = PendingReflects::own(endpoint->waits())
                          .start(*array, {width, array->dimensions()}, orthogonal != 0, combine);
    return error != 0 ? error : std::min(array->take_result(), 0);
  });
}

uint64_t relaxed(const std::atomic<uint64_t>& one) {
  return one.load(std::memory_order_relaxed);
}

}  // namespace

int64_t nagaya_distribution_width(int64_t low, int64_t high, uint32_t coordinates) {
  const int64_t width = (high - low + coordinates) / coordinates;
  return width < 1 ? 1 : width;
}

int64_t nagaya_distribution_count(const nagaya_distribution* of, uint32_t coordinate) {
  return nagaya::array::count_of(*of, coordinate);
}

int64_t nagaya_distribution_count_below(const nagaya_distribution* of, uint32_t coordinate,
                                        int64_t index) {
  return nagaya::array::count_below(*of, coordinate, index);
}

uint32_t nagaya_distribution_coordinate(const nagaya_distribution* of, int64_t index) {
  return nagaya::array::coordinate_of(*of, index);
}

int64_t nagaya_distribution_place(const nagaya_distribution* of, int64_t index) {
  return nagaya::array::place_of(*of, index);
}

int64_t nagaya_distribution_index(const nagaya_distribution* of, uint32_t coordinate,
                                  int64_t place) {
  return nagaya::array::index_at(*of, coordinate, place);
}

nagaya_interval nagaya_distribution_run(const nagaya_distribution* of, uint32_t coordinate,
                                        int64_t place) {
  return nagaya::array::run_at(*of, coordinate, place);
}

int nagaya_distribution_has(const nagaya_distribution* of, uint32_t coordinate, int64_t low,
                            int64_t high, int64_t step) {
  return nagaya::array::has_index_in(*of, coordinate, low, high, step) ? 1 : 0;
}

nagaya_rounds nagaya_distribution_rounds(const nagaya_distribution* of, uint32_t coordinate,
                                         int64_t first, int64_t last, int64_t step) {
  return nagaya::array::rounds_of_loop(*of, coordinate, first, last, step);
}

void nagaya_interval_clip_loop(nagaya_interval interval, int64_t step, int64_t* first,
                               int64_t* end) {
  nagaya::array::clip_loop(interval, step, *first, *end);
}

int nagaya_array_open(const nagaya_array_shape* shape, const nagaya_array_grid* grid, uint64_t name,
                      int messages, nagaya_array** out) {
  if (shape == nullptr || grid == nullptr || grid->processes == nullptr || out == nullptr ||
      name >> 55 != 0 || !grid->processes->set->has_caller() ||
      !Shape::is_valid(*shape, *grid, grid->processes->set->size()))
    return -EINVAL;
  return catch_errors([&] {
    const Transport transport = messages != 0 ? Transport::kMessages : Transport::kDirect;
    auto array = std::make_unique<nagaya_array>(*shape, *grid, name, transport);
    if (array->size() > 1) {
      Endpoint* const endpoint = Endpoint::own();
      if (endpoint == nullptr) return -ESRCH;
      const int error = array->open(endpoint->board(), endpoint->record());
      if (error != 0) return error;
    }
    *out = array.release();
    return 0;
  });
}

int nagaya_array_wait_sent(nagaya_array* array) {
  if (is_of_parent(*array)) return -ESRCH;
  if (array->is_reflecting()) return -EBUSY;
  wait([array] { return array->may_be_destroyed(); });
  return array->error();
}

int nagaya_array_close(nagaya_array* array) {
  const int error = nagaya_array_wait_sent(array);
  if (error != -ESRCH && error != -EBUSY) delete array;
  return error;
}

const nagaya_array_block* nagaya_array_block_of(const nagaya_array* array) {
  return &array->block();
}

void* nagaya_array_element(nagaya_array* array, const int64_t* index) {
  if (is_of_parent(*array) || !array->has_element(index)) return nullptr;
  const int64_t rank = array->rank_of_element(index);
  if (rank < 0) return nullptr;
  std::byte* at = nullptr;
  wait([&] {
    at = array->element_at(static_cast<uint32_t>(rank), index);
    return at != nullptr;
  });
  return at;
}

int nagaya_array_start_reflect(nagaya_array* array, const nagaya_array_width* width,
                               int orthogonal) {
  return start(array, width, orthogonal, nullptr);
}

int nagaya_array_start_reduction(nagaya_array* array, const nagaya_array_width* width,
                                 int orthogonal, nagaya_array_combine* combine) {
  return combine == nullptr ? -EINVAL : start(array, width, orthogonal, combine);
}

int nagaya_array_test_reflect(nagaya_array* array) {
  if (is_of_parent(*array)) return -ESRCH;
  nagaya_match_progress();
  if (array->is_reflecting()) PendingReflects::own(Endpoint::own()->waits()).advance();
  return array->take_result();
}

int nagaya_array_wait_reflect(nagaya_array* array) {
  if (is_of_parent(*array)) return -ESRCH;
  wait([array] { return !array->is_reflecting(); });
  return std::min(array->take_result(), 0);
}

int nagaya_array_reflect(nagaya_array* array, const nagaya_array_width* width, int orthogonal) {
  return run(array, width, orthogonal, nullptr);
}

int nagaya_array_reduce_shadow(nagaya_array* array, const nagaya_array_width* width, int orthogonal,
                               nagaya_array_combine* combine) {
  return combine == nullptr ? -EINVAL : run(array, width, orthogonal, combine);
}

nagaya_array_statistics nagaya_array_statistics_of_process(void) {
  const Statistics& of = Statistics::own();
  return {relaxed(of.reflects), relaxed(of.copies), relaxed(of.messages),
          relaxed(of.local_messages)};
}
