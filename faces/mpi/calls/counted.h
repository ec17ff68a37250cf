// SPDX-License-Identifier: BSD-3-Clause
// counted.h - counts the calls that are ours, for NAGAYA_MPI_VERBOSE. Without that nothing is
// counted.
#pragma once

#include <cstdint>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

struct CallCounts {
  uint64_t point_to_point = 0, collective = 0, one_sided = 0;
};

// Returns how many calls of this process have named a communicator or window that is ours.
CallCounts counted_calls();

// Puts counting functions before those of `ours` that move data of a communicator or window.
void count_calls(Functions& ours);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
