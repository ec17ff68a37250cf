// SPDX-License-Identifier: BSD-3-Clause
#include "array/pending_reflects.h"

#include <mutex>

namespace nagaya::array {

int PendingReflects::start(Array& array, std::span<const nagaya_array_width> widths,
                           bool orthogonal, layout::Combine* combine) {
  const std::lock_guard guard(lock);
  arrays_.reserve(arrays_.size() + 1);
  if (const int error = register_with_waits(); error != 0) return error;
  if (const int error = array.start_reflect(widths, orthogonal, combine); error != 0) return error;
  if (array.advance()) return 0;
  arrays_.push_back(&array);
  count_added();
  return 0;
}

int PendingReflects::advance() {
  const auto guard = lock_if_pending();
  if (!guard) return 0;
  // An array whose reflect has ended may be closed at once.
  const size_t ended = std::erase_if(arrays_, [](Array* array) { return array->advance(); });
  count_removed(ended);
  return static_cast<int>(ended);
}

}  // namespace nagaya::array
