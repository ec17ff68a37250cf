// SPDX-License-Identifier: BSD-3-Clause
// meeting.h - shared memory of the ranks of one measurement: a barrier, and a turn to hand round.
//
// Tasks of a space find it by a published address; separate processes map it from a descriptor
// that they inherit; threads of one process have it as a variable.
#pragma once

#include <atomic>
#include <cstdint>

namespace nagaya::bench {

inline constexpr int kResultsFd = 3;  // a worker's results go here
inline constexpr int kMeetingFd = 4;  // a separate process maps the Meeting from here

// Plain data, shared. All zero at first.
struct Meeting {
  alignas(64) std::atomic<uint32_t> arrived;
  std::atomic<uint32_t> generation;
  std::atomic<uint32_t> failed;            // a rank has given up: nobody may wait for it
  alignas(64) std::atomic<uint64_t> turn;  // rank turn % ranks has the turn
  alignas(64) uint64_t turns_taken;        // plain: only the rank with the turn may touch it
};

// Waits for all `ranks`; throws when one of them failed. The last to arrive opens the next
// generation (release, read by the acquire of the others). Yields, because the ranks may share one
// core.
void meet(Meeting& meeting, uint32_t ranks);

// Returns the meeting of this process's ranks; it stays until all of them have ended.
Meeting& find_meeting(int rank);

}  // namespace nagaya::bench
