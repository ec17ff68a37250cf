// SPDX-License-Identifier: BSD-3-Clause
// stop_point.h - the steps of start, join, spawn, reap and exit at which a process of a job stops
// itself when NAGAYA_STOP_AT names one, so that a test can kill any of them exactly there. The
// first process of a kind (client, host with its tasks) that comes by stops, once. Freestanding.
#pragma once

#include <signal.h>

#include <atomic>

#include "arch/arch.h"

namespace nagaya::task {

enum class StopPoint : uint32_t {
  kNone,
  kClientLocked,       // holds the lock under which a host is started
  kClientHostSpawned,  // the host exists, nobody listens yet
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
  kHostRecordOpened,  // a task has its number
  kHostLoaded,        // and is mapped
  kHostCloned,        // and runs, which its client does not know
  kHostReaped,        // a task has ended, which nobody knows
  kHostEndMarked,     // which the tasks know
  kHostEndTold,       // which its client knows
  kHostLeaving,
  kTaskCloned,       // has nothing of its own yet
  kTaskTied,         // its life ends with the host's
  kTaskDescriptors,  // has its own descriptors only
  kTaskEntering,     // its next instruction is its program's first
};

// In the order of StopPoint.
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
};

// Of this process; a task that starts still has its host's.
inline std::atomic<StopPoint> chosen_stop_point{StopPoint::kNone};

inline void stop_at(StopPoint point) {
  if (chosen_stop_point.load(std::memory_order_relaxed) != point) return;
  if (chosen_stop_point.exchange(StopPoint::kNone, std::memory_order_relaxed) != point) return;
  arch::raw_syscall(__NR_kill, arch::raw_syscall(__NR_getpid), SIGSTOP);
}

}  // namespace nagaya::task
