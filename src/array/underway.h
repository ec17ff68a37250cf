// SPDX-License-Identifier: BSD-3-Clause
// underway.h - a task's pending reflects: started, and not complete at once. Every wait of the task
// advances them.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "array/array.h"
#include "llcl/wait.h"
#include "task/space/spin_lock.h"

namespace nagaya::array {

class PendingReflects {
 public:
  // Returns the calling task's object, made at the first call. May throw std::bad_alloc.
  static PendingReflects& own(llcl::Wait& waits);

  // Starts a reflect and advances it once. Returns as Array::start_reflect(), or -ENOSPC. May throw
  // std::bad_alloc: then nothing has happened.
  int start(Array& array, std::span<const nagaya_array_width> widths, bool orthogonal);
  // Advances each pending reflect once, unless another thread does so. Returns how many have ended.
  // Any thread.
  int advance();

 private:
  explicit PendingReflects(llcl::Wait& waits) : waits_(waits) {}

  int register_with_waits();

  llcl::Wait& waits_;
  task::SpinLock lock_;  // protects the members below, and the arrays' reflects
  bool is_registered_ = false;
  std::vector<Array*> arrays_;
  std::atomic<uint32_t> count_ = 0;  // size of arrays_, read without the lock
};

}  // namespace nagaya::array
