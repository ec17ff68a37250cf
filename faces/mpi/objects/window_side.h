// SPDX-License-Identifier: BSD-3-Clause
// window_side.h - one side of an access to a window: buffer, count and datatype of the call, as
// nagaya/window.h describes bytes.
#pragma once

#include <nagaya/window.h>

#include <vector>

#include "objects/predefined.h"
#include "objects/type.h"
#include "reduction/reductions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class WindowSide {
 public:
  WindowSide() {}  // leaves the runs as they are
  WindowSide(const WindowSide&) = delete;
  WindowSide& operator=(const WindowSide&) = delete;

  // set() or set_elements() is called, once. `buffer`: nullptr at the target, where addresses are
  // offsets. Return an error class; may throw std::bad_alloc.

  int set(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
    buffer_ = {const_cast<void*>(buffer), 0, nullptr, 0};
    if (is_basic(datatype, buffer_.bytes)) [[likely]] {
      buffer_.bytes *= static_cast<size_t>(count);
      return MPI_SUCCESS;
    }
    return set_derived(static_cast<size_t>(count), datatype);
  }
  // For accumulates: whole elements of one predefined datatype, pairs with their gaps.
  // `element` is set to it, or left as it is if the type has no elements.
  int set_elements(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                   nagaya_reduction operation, nagaya_element_type& element) {
    const nagaya_element_type* const known = find_element_type(datatype);
    if (known == nullptr) [[unlikely]]
      return set_derived_elements(buffer, count, datatype, operation, element);
    element = *known;
    buffer_ = {const_cast<void*>(buffer),
               reduction::elements_of(element).extent * static_cast<size_t>(count), nullptr, 0};
    return MPI_SUCCESS;
  }
  // Describes `buffer` with the count and datatype of another side, which lies side by side, and
  // whose buffer is nullptr.
  void set_like(const WindowSide& other, const void* buffer) {
    buffer_ = other.buffer_;
    buffer_.first = reinterpret_cast<void*>(reinterpret_cast<intptr_t>(buffer) +
                                            reinterpret_cast<intptr_t>(other.buffer_.first));
  }

  // Leaves only the first bytes of the message.
  void shorten(size_t bytes);

  bool is_one_run() const { return buffer_.runs == nullptr; }
  size_t bytes() const { return buffer_.bytes; }
  const nagaya_window_buffer& buffer() const { return buffer_; }

 private:
  static constexpr size_t kFewRuns = 8;

  int set_derived(size_t count, MPI_Datatype datatype);
  int set_derived_elements(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                           nagaya_reduction operation, nagaya_element_type& element);
  // describe(runs, most) stores the runs, and returns their number, or 0 if there are more.
  template <class Describe>
  void set_runs(Describe describe);

  nagaya_window_buffer buffer_;
  nagaya_runs few_[kFewRuns];
  std::vector<nagaya_runs> many_;  // in place of `few_`
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
