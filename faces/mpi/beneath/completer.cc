// SPDX-License-Identifier: BSD-3-Clause
#include "beneath/completer.h"

#include <nagaya/llcl.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "beneath/foreign_call.h"

namespace nagaya::mpi {
namespace {

using mailbox::Machine;

constexpr uint64_t kFirstNapNs = 50'000, kLongestNapNs = 1'000'000;
constexpr int kQuietNapsMax = 16;  // without a foreign call; then it is dormant

void nap(uint64_t nap_ns) {
  static const std::atomic<uint32_t> nobody_wakes = 0;
  Machine::futex_wait(nobody_wakes, 0, Machine::now_ns() + nap_ns);
}

void poll_once() {
  bool is_first = true;
  ::nagaya_llcl_progress_by_turns(
      [](void* first) -> int {
        return std::exchange(*static_cast<bool*>(first), false) && ForeignCalls::take();
      },
      [](void*) { ForeignCalls::give_back(); }, &is_first);
}

void poll_while_away() {
  ::nagaya_llcl_progress_by_turns([](void*) -> int { return ForeignCalls::take(); },
                                  [](void*) { ForeignCalls::give_back(); }, nullptr);
}

}  // namespace

void Completer::wake() {
  is_dormant_.store(0, std::memory_order_relaxed);
  if (is_started_.exchange(true)) return Machine::futex_wake(is_dormant_);
  ForeignCalls::begin();
  start();
}

void Completer::start() {
  // Every signal is blocked, so that the program's signal handlers run in its own threads.
  sigset_t all, old;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  const auto run_in_thread = [](void*) -> void* { return run(), nullptr; };
  // Without a thread our messages move in our calls only.
  if (::pthread_create(&thread, nullptr, run_in_thread, nullptr) == 0) ::pthread_detach(thread);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void Completer::run() {
  ::pthread_setname_np(::pthread_self(), "nagaya-mpi");
  is_self_ = true;
  uint64_t nap_ns = kFirstNapNs;
  int quiet_naps = 0;
  for (uint32_t seen = ForeignCalls::count();;) {
    nap(nap_ns);
    nap_ns = std::min(2 * nap_ns, kLongestNapNs);
    const uint32_t calls = ForeignCalls::count();
    const bool is_new = std::exchange(seen, calls) != calls;
    const bool is_away = ForeignCalls::is_away();
    quiet_naps = is_new || is_away ? 0 : quiet_naps + 1;
    if (is_away && is_new) {
      poll_once();
    } else if (is_away) {
      poll_while_away();
      nap_ns = kFirstNapNs;
    } else if (quiet_naps == kQuietNapsMax) {
      sleep_until_called();
      nap_ns = kFirstNapNs;
      quiet_naps = 0;
    }
  }
}

void Completer::sleep_until_called() {
  is_dormant_.store(
      1, std::memory_order_seq_cst);  // before the load of is_away(); see wake_if_dormant
  if (ForeignCalls::is_away()) return is_dormant_.store(0, std::memory_order_relaxed);
  while (is_dormant_.load(std::memory_order_relaxed) != 0)
    Machine::futex_wait(is_dormant_, 1, mailbox::kNever);
}

}  // namespace nagaya::mpi
