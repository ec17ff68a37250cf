// SPDX-License-Identifier: BSD-3-Clause
// meeting.h - where the processes of a job find each other before they can talk: each publishes
// something, then each may read what any other has published. The launcher of the job is the
// meeting place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace nagaya::bootstrap {

// A process of the job that has not come after this time does not come.
inline constexpr int kStartTimeoutMs = 60'000;

// The text of -EEXIST in a job of several nodes: their delegatees are connected only once.
inline constexpr char kEarlierProgram[] =
    "an earlier program of this launched process has called nagaya_comm_init, and the job has "
    "several nodes: run each program by a job of its own (nagaya run, mpirun)";

class Meeting {
 public:
  virtual ~Meeting() = default;
  // Publishes `bytes` to all processes, under each key once. Others can read them after the next
  // fence.
  virtual void publish(const std::string& key, const std::string& bytes) = 0;
  // Collective: returns when all processes have called it.
  virtual void fence() = 0;
  // Returns the bytes that the process `rank` has published under the key. It must have published
  // some.
  virtual std::string read(uint32_t rank, const std::string& key) = 0;
  // All three throw base::Error.
};

// This process as its launcher describes it.
struct Launched {
  uint32_t rank;
  uint32_t size;                     // processes of the job
  std::unique_ptr<Meeting> meeting;  // nullptr: all of them are on this node
  std::string job;                   // the launcher's name for it; "": it has none
};

// Describes this process. Without a launcher, its rank is the task's number, and the job has as
// many processes as the space expects. Throws base::Error -ENOTSUP: several nodes, and a launcher
// through which they cannot meet.
Launched find_launcher(uint32_t task, uint32_t tasks_expected);

}  // namespace nagaya::bootstrap
