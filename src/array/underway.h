// SPDX-License-Identifier: BSD-3-Clause
// underway.h - a task's reflects that were started and not complete at once: every wait of the task
// moves them.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "array/array.h"
#include "llcl/wait.h"
#include "task/space/spin_lock.h"

namespace nagaya::array {

class Underway {
 public:
  // Of the calling task; made at its first such reflect. May throw std::bad_alloc.
  static Underway& own(llcl::Wait& waits);

  // As Array::start_reflect(), or -ENOSPC. May throw std::bad_alloc: then nothing has happened.
  int start(Array& array, std::span<const nagaya_array_width> widths, bool orthogonal);
  // Looks once at each, unless another thread does so; how many have ended. Any thread.
  int advance();

 private:
  explicit Underway(llcl::Wait& waits) : waits_(waits) {}

  int be_in_waits();

  llcl::Wait& waits_;
  task::SpinLock lock_;  // of what follows, and of the arrays' reflects
  bool is_in_waits_ = false;
  std::vector<Array*> arrays_;
  std::atomic<uint32_t> count_ = 0;  // of them
};

}  // namespace nagaya::array
