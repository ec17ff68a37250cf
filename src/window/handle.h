// SPDX-License-Identifier: BSD-3-Clause
// handle.h - the handle of nagaya/window.h, and what its functions have in common.
#pragma once

#include <errno.h>

#include <memory>

#include "base/catch_errors.h"
#include "task/space/own_record.h"
#include "window/remote_members.h"
#include "window/window.h"

struct nagaya_window : nagaya::window::Window {
  using Window::Window;

  std::unique_ptr<nagaya::window::RemoteMembers> remote;  // nullptr: all members are on one node
};

namespace nagaya::window {

// Returns 0, or the error of a call for `window`.
inline int check(const nagaya_window* window) {
  if (task::own_record() == nullptr) return -ESRCH;
  return window == nullptr ? -EINVAL : 0;
}
inline int check(const nagaya_window* window, uint32_t rank) {
  const int error = check(window);
  return error == 0 && rank >= window->size() ? -EINVAL : error;
}

inline bool is_remote(const nagaya_window* window, uint32_t rank) {
  return window->remote != nullptr && rank < window->size() && window->is_remote(rank);
}

// Waits until the caller's accesses to all other nodes are complete.
inline int flush_remote(nagaya_window& window) {
  return window.remote == nullptr ? 0 : window.remote->flush_all();
}

// All members arrive. Complete before are the accesses of all.
inline void wait_for_all(nagaya_window& window) {
  if (window.remote != nullptr) return window.remote->barrier();
  const uint64_t arrivals = window.arrive();
  wait(llcl::Purpose::kWindow, [&] { return window.have_arrived(arrivals); });
}

}  // namespace nagaya::window
