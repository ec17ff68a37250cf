// SPDX-License-Identifier: BSD-3-Clause
// event_loop.h - the launcher's one loop: calls a function for each descriptor that is readable,
// and functions that other threads have posted.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/fd.h"

namespace nagaya::tools {

// All functions but post() belong to the thread that runs the loop.
class EventLoop {
 public:
  EventLoop();  // throws Error

  // Calls `function` whenever `fd` is readable or its other end is closed, until forget(fd), which
  // comes before the descriptor is closed. A function may watch and forget any descriptor.
  void watch(int fd, std::function<void()> function);
  void forget(int fd);

  // Makes the loop call `function`. May be called by any thread.
  void post(std::function<void()> function);

  // Waits up to `timeout_ms` (-1: without a limit) for events, and serves them.
  void serve_once(int timeout_ms);

 private:
  void run_posted();

  base::Fd epoll_;
  base::Fd posted_event_;
  std::map<int, std::function<void()>> functions_;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
};

}  // namespace nagaya::tools
