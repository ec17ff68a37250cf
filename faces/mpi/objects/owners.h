// SPDX-License-Identifier: BSD-3-Clause
// owners.h - how many pointers to an object there are. Counted for each request, so an atomic
// instruction is used only where threads need it.
#pragma once

#include <atomic>
#include <cstdint>

#include "objects/job.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Owners {
 public:
  void add() {
    if (Job::has_threads())
      count_.fetch_add(1, std::memory_order_relaxed);
    else
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Returns whether it was the last one: then the caller ends the object.
  bool remove() {
    if (Job::has_threads()) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const uint32_t left = count_.load(std::memory_order_relaxed) - 1;
    count_.store(left, std::memory_order_relaxed);
    return left == 0;
  }

 private:
  std::atomic<uint32_t> count_ = 1;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
