// SPDX-License-Identifier: BSD-3-Clause
// completer.h - a thread of the task that makes progress with our messages and collectives while
// the program's threads are in the MPI beneath, where nothing moves them.
//
//   dormant     asleep: there was no foreign call for long. The next one wakes it
//   napping     looks at growing intervals whether a thread is in a foreign call; if so, polls once
//   polling     has found one foreign call twice: polls until the call ends, and sleeps between
//               events until the task's bell rings (nagaya_llcl_progress_by_turns)
//
// So a foreign call that is short costs no wake, and one that lasts is found within two naps.
#pragma once

#include <atomic>
#include <cstdint>

namespace nagaya::mpi {

class Completer {
 public:
  // Called at the beginning of each foreign call, once is_away(). Starts the thread at the first.
  static void wake_if_dormant() {
    // Sequentially consistent: the store of "away" came before; pairs with sleep_until_called().
    if (is_dormant_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake();
  }

  // Whether the calling thread is the completer.
  static bool is_self() { return is_self_; }

 private:
  static void wake();
  static void start();
  static void run();
  static void sleep_until_called();

  inline static std::atomic<uint32_t> is_dormant_ = 1;
  inline static std::atomic<bool> is_started_ = false;
  inline static thread_local constinit bool is_self_ = false;
};

}  // namespace nagaya::mpi
