// SPDX-License-Identifier: BSD-3-Clause
// remote_access.h - accesses to the memory of a target on another node: requests of llcl. Arguments
// and results as in access.h; but an access goes on when the call has returned, and is complete
// after a flush. The caller's memory stays as it is until then. Accesses that need memory of their
// own (a list of runs, a copy of elements), and those to dynamic windows, are complete at once.
#pragma once

#include "window/access.h"
#include "window/remote_members.h"

namespace nagaya::window {

class RemoteAccess {
 public:
  RemoteAccess(Window& window, RemoteMembers& members) : window_(window), members_(members) {}

  int put(const nagaya_window_buffer& from, const nagaya_window_target& to);
  int get(const nagaya_window_buffer& to, const nagaya_window_target& from);
  int accumulate(const nagaya_window_buffer* from, const nagaya_window_buffer* result,
                 const nagaya_window_target& to, ElementOperation what);
  int fetch_and_op(uint32_t rank, uint64_t displacement, const Fetch& values,
                   ElementOperation what);
  int compare_and_swap(uint32_t rank, uint64_t displacement, const CompareSwap& what);

 private:
  template <class Request>
  int start(const nagaya_window_target& to, bool is_in_order, Request request, size_t gap = 0);
  template <class Request>
  int run_attached(const nagaya_window_target& to, const Reach& reach, Request request);
  int copy(bool is_put, const nagaya_window_buffer& own, const nagaya_window_target& other);
  int copy_runs(bool is_put, const nagaya_window_buffer& own, const nagaya_window_target& other);
  int ended(int error);

  Window& window_;
  RemoteMembers& members_;
};

}  // namespace nagaya::window
