// SPDX-License-Identifier: BSD-3-Clause
// waiting.h - waits for our requests.
#pragma once

#include <nagaya/match.h>

#include "objects/errors.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// Waits until is_over() is true. Returns an error class: MPI_ERR_NO_MEM if arrived messages wait
// for memory.
template <class IsOver>
int wait_until(IsOver is_over) {
  return class_of(::nagaya_match_wait(
      [](void* context) -> int { return (*static_cast<IsOver*>(context))(); }, &is_over, -1));
}

// Waits as wait_until() does for a function that polls the MPI beneath, too: no message of ours
// wakes a thread that sleeps until something happens there.
template <class IsOver>
int wait_and_poll(IsOver is_over) {
  constexpr int kLongestSleepMs = 1;
  int error = 0;
  do
    error =
        ::nagaya_match_wait([](void* context) -> int { return (*static_cast<IsOver*>(context))(); },
                            &is_over, kLongestSleepMs);
  while (error == -ETIMEDOUT);
  return class_of(error);
}

// Waits until is_over() is true, even while messages wait for memory.
template <class IsOver>
void wait_without_memory(IsOver is_over) {
  ::nagaya_llcl_wait([](void* context) -> int { return (*static_cast<IsOver*>(context))(); },
                     &is_over, -1);
}

// Waits for a request whose memory others use: even while messages wait for memory.
inline void await(const uint32_t* is_complete) {
  ::nagaya_llcl_wait_flag(is_complete, -1);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
