// SPDX-License-Identifier: BSD-3-Clause
// progress.h - moves the MPI beneath while threads wait in ours: a peer may wait there for this
// process.
//
//   before the first foreign call   never
//   after a foreign call            after a millisecond, then less and less often, up to every
//                                   16 ms: a call that has returned may have left messages in a
//                                   queue of the MPI beneath, or a request
//   while an operation of theirs    in one poll of 256. A thread that waits sleeps for at most a
//   is pending (PendingBeneath)     millisecond, because the operation's end rings no bell
//
// It is moved by MPI_Test of a receive that no message matches, on MPI_COMM_SELF. (MPI_Iprobe needs
// a communicator with another process, which a job of one process that spawns others does not
// have.)
#pragma once

#include <atomic>
#include <cstdint>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class ProgressBeneath {
 public:
  // Called at the first foreign call, once match is open.
  static void begin();
  // Called before the MPI beneath ends.
  static void end();

  // Something of theirs is pending whose end cannot be tested for, as a window is.
  static void add_pending() { pending_.fetch_add(1, std::memory_order_relaxed); }
  static void remove_pending() { pending_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static void poll();
  static int advance(void*);
  static uint64_t before_sleep(void*);

  inline static std::atomic<uint32_t> pending_ = 0;
};

// A pending operation of theirs that nobody else tests: each wait of ours tests it.
class PendingBeneath {
 public:
  PendingBeneath() = default;
  // Not called between add_to_pending() and its end.
  virtual ~PendingBeneath() = default;
  PendingBeneath(const PendingBeneath&) = delete;
  PendingBeneath& operator=(const PendingBeneath&) = delete;

  // From now on, waits of all threads test it: called once it has begun.
  void add_to_pending();
  // Tests it, unless another thread does just now. Once this is true no other thread uses it.
  bool has_ended();

 private:
  friend class ProgressBeneath;
  // Advances it. Returns whether it has ended. Called by one thread at a time, which may call the
  // MPI beneath.
  virtual bool test() = 0;
  void test_and_end();

  std::atomic<bool> has_ended_ = false;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
