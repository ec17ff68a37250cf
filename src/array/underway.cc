// SPDX-License-Identifier: BSD-3-Clause
#include "array/underway.h"

#include <mutex>

namespace nagaya::array {

PendingReflects& PendingReflects::own(llcl::Wait& waits) {
  // Never destroyed: other threads may use it while the process exits.
  static PendingReflects* const own = new PendingReflects(waits);
  return *own;
}

// Registers with the waits at the first reflect only: before that no poll pays for this.
int PendingReflects::register_with_waits() {
  if (is_registered_) return 0;
  const int error =
      waits_.add({[](void* self) { return static_cast<PendingReflects*>(self)->advance(); }, 1,
                  [](void* self) {
                    return llcl::sleep_beside_looks(static_cast<PendingReflects*>(self)->lock_);
                  },
                  nullptr, this});
  is_registered_ = error == 0;
  return error;
}

int PendingReflects::start(Array& array, std::span<const nagaya_array_width> widths,
                           bool orthogonal) {
  const std::lock_guard lock(lock_);
  arrays_.reserve(arrays_.size() + 1);
  if (const int error = register_with_waits(); error != 0) return error;
  if (const int error = array.start_reflect(widths, orthogonal); error != 0) return error;
  if (array.advance()) return 0;
  arrays_.push_back(&array);
  count_.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

int PendingReflects::advance() {
  if (count_.load(std::memory_order_relaxed) == 0 || !lock_.try_lock()) return 0;
  // An array whose reflect has ended may be closed at once.
  const size_t ended = std::erase_if(arrays_, [](Array* array) { return array->advance(); });
  count_.fetch_sub(static_cast<uint32_t>(ended), std::memory_order_relaxed);
  lock_.unlock();
  return static_cast<int>(ended);
}

}  // namespace nagaya::array
