// SPDX-License-Identifier: BSD-3-Clause
// kept_handles.h - operations and datatypes that pending calls pass to the MPI beneath. MPI lets a
// program free them as soon as a call has started; the MPI beneath knows nothing of our calls, so
// it is told later.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace nagaya::mpi {

template <class Handle>
class KeptHandles {
 public:
  // Called by a call that uses the handle. Throws std::bad_alloc.
  void hold(Handle handle) {
    const std::lock_guard guard(lock_);
    ++uses_[handle].count;
    has_any_.store(true, std::memory_order_relaxed);
  }
  // Returns true if the program has freed the handle meanwhile, and no other call uses it: the
  // caller frees it.
  bool release(Handle handle) {
    const std::lock_guard guard(lock_);
    const auto use = uses_.find(handle);
    if (--use->second.count != 0) return false;
    const bool is_freed = use->second.is_freed;
    uses_.erase(use);
    has_any_.store(!uses_.empty(), std::memory_order_relaxed);
    return is_freed;
  }
  // Called when the program frees the handle. Returns whether the last release() will say so.
  bool free_later(Handle handle) {
    if (!has_any_.load(std::memory_order_relaxed))
      return false;  // the program's own order: start, then free
    const std::lock_guard guard(lock_);
    const auto use = uses_.find(handle);
    if (use == uses_.end()) return false;
    use->second.is_freed = true;
    return true;
  }

 private:
  struct Use {
    size_t count = 0;
    bool is_freed = false;
  };
  std::mutex lock_;
  std::unordered_map<Handle, Use> uses_;
  std::atomic<bool> has_any_ = false;
};

}  // namespace nagaya::mpi
