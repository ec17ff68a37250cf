// SPDX-License-Identifier: BSD-3-Clause
// window_side.h - one side of an access to a window: buffer, count and datatype of the call, as
// nagaya/window.h describes bytes.
#pragma once

#include <nagaya/window.h>

#include <vector>

#include "objects/type.h"

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
                   nagaya_reduction operation, nagaya_element_type& element);

  // Leaves only the first bytes of the message.
  void shorten(size_t bytes);

  size_t bytes() const { return buffer_.bytes; }
  const nagaya_window_buffer& buffer() const { return buffer_; }

 private:
  static constexpr size_t kFewRuns = 8;

  int set_derived(size_t count, MPI_Datatype datatype);
  // describe(runs, most) stores the runs, and returns their number, or 0 if there are more.
  template <class Describe>
  void set_runs(Describe describe);

  nagaya_window_buffer buffer_;
  nagaya_runs few_[kFewRuns];
  std::vector<nagaya_runs> many_;  // in place of `few_`
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
