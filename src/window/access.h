// SPDX-License-Identifier: BSD-3-Clause
// access.h - accesses to the memory of a target, by the caller. Each checks the epoch and the place
// first, and is complete when it returns. Arguments and results as in nagaya/window.h.
#pragma once

#include "window/window.h"

namespace nagaya::window {

int put(Window& window, const nagaya_window_buffer& from, const nagaya_window_target& to);
int get(Window& window, const nagaya_window_buffer& to, const nagaya_window_target& from);

// An operation on elements of a target.
struct ElementOperation {
  nagaya_element_type type;
  nagaya_reduction operation;
};
// `from` may be nullptr with NO_OP, `result` if nobody wants the values from before.
int accumulate(Window& window, const nagaya_window_buffer* from, const nagaya_window_buffer* result,
               const nagaya_window_target& to, ElementOperation what);

struct Fetch {
  const void* operand;
  void* result;
};
int fetch_and_op(Window& window, uint32_t rank, uint64_t displacement, const Fetch& values,
                 ElementOperation what);

struct CompareSwap {
  const void *desired, *expected;
  void* result;
  nagaya_element_type type;
};
int compare_and_swap(Window& window, uint32_t rank, uint64_t displacement, const CompareSwap& what);

}  // namespace nagaya::window
