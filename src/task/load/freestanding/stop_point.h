// SPDX-License-Identifier: BSD-3-Clause
// stop_point.h - the stop points of a job: named steps at which a process stops itself, once, so
// that a test can kill it exactly there. They lie in start, join, spawn, reap and exit, and in a
// push, a post, a collective, a halo exchange and an accumulate. NAGAYA_STOP_AT
// chooses one (task/host/stop_choice.h) for each process that has it in its environment, and for
// the host that such a process starts. Until a task enters its program, the host's choice applies
// to it: the first task at that step stops. Freestanding.
#pragma once

#include <signal.h>

#include <atomic>

#include "arch/arch.h"

namespace nagaya::task {

enum class StopPoint : uint32_t {
  kNone,
  kClientLocked,       // holds the lock under which a host is started
  kClientHostSpawned,  // the host exists, no process listens yet
  kClientListening,    // the socket exists, the host does not serve it yet
  kClientConnected,
  kClientGreeted,
  kClientLaunchSent,
  kClientStarted,  // knows its task
  kClientEnded,    // knows its task's end
  kHostStarted,    // before it knows its settings
  kHostServing,
  kHostAccepted,
  kHostGreeted,
  kHostRecordOpened,  // a task has got its number
  kHostLoaded,        // the task's program is mapped
  kHostCloned,        // the task runs, its client does not know yet
  kHostReaped,        // a task has ended, only the host knows
  kHostEndMarked,     // the tasks know of the end
  kHostEndTold,       // the client knows of the end
  kHostLeaving,
  kTaskCloned,       // has nothing of its own yet
  kTaskTied,         // its life ends with the reaper's
  kTaskDescriptors,  // has its own descriptors only
  kTaskEntering,     // its next instruction is its program's first; the last step of a start
  kLaneWritten,      // the cell is filled, the consumer cannot see it
  kLanePublished,    // the cell is visible, but the lane is not yet marked as active
  kLaneMarked,       // the lane is active, a sleeping consumer has not been woken
  kBellRung,         // the word has changed, the sleeper has not been woken
  kPostReserved,     // the position is taken, the payload is not complete
  kPostReady,        // the message can be taken, a sleeping reader has not been woken
  kLinePosted,       // of a collective: members see the line, sleeping ones have not been woken
  kLineLeft,         // of a collective: the member needs no others' memory, none knows yet
  kHaloReady,        // of an array: others may read the own rows, sleeping ones not yet woken
  kHaloRead,         // a neighbour's rows are copied, it does not know yet
  kBlockReading,     // a member reads the block; a broadcast's root waits if it needs its memory
  kStripeHeld,       // of an accumulate: others wait for the lock, the element is unchanged
  kOperandsRead,     // of a long accumulate between nodes: the target's host has the operands, the
                     // elements are unchanged
};

// Names for NAGAYA_STOP_AT, in the order of StopPoint.
inline constexpr const char* kStopPointNames[] = {
    "none",
    "client.locked",
    "client.host-spawned",
    "client.listening",
    "client.connected",
    "client.greeted",
    "client.launch-sent",
    "client.started",
    "client.ended",
    "host.started",
    "host.serving",
    "host.accepted",
    "host.greeted",
    "host.record-opened",
    "host.loaded",
    "host.cloned",
    "host.reaped",
    "host.end-marked",
    "host.end-told",
    "host.leaving",
    "task.cloned",
    "task.tied",
    "task.descriptors",
    "task.entering",
    "lane.written",
    "lane.published",
    "lane.marked",
    "bell.rung",
    "post.reserved",
    "post.ready",
    "line.posted",
    "line.left",
    "halo.ready",
    "halo.read",
    "block.reading",
    "stripe.held",
    "operands.read",
};

struct StopChoice {
  StopPoint point;
  uint32_t passages;  // the process stops at the last of this many passages
};

// The choice in this copy of the library; a starting task still uses the host's copy.
inline constinit std::atomic<StopPoint> chosen_stop_point{StopPoint::kNone};
inline constinit std::atomic<uint32_t> passages_to_stop_point{1};

inline void choose_stop_point(StopChoice choice) {
  passages_to_stop_point.store(choice.passages, std::memory_order_relaxed);
  chosen_stop_point.store(choice.point, std::memory_order_relaxed);
}

inline StopChoice stop_choice() {
  return {chosen_stop_point.load(std::memory_order_relaxed),
          passages_to_stop_point.load(std::memory_order_relaxed)};
}

// Stops the process if this is the chosen passage. Relaxed: any one thread may be the one to stop;
// no other data depend on it.
inline void stop_at(StopPoint point) {
  if (chosen_stop_point.load(std::memory_order_relaxed) != point) [[likely]]
    return;
  if (passages_to_stop_point.fetch_sub(1, std::memory_order_relaxed) != 1) return;
  arch::raw_syscall(__NR_kill, arch::raw_syscall(__NR_getpid), SIGSTOP);
}

}  // namespace nagaya::task
