// SPDX-License-Identifier: BSD-3-Clause
// access_api.cc - the accesses of nagaya/window.h: by the caller, or by requests to another node.
#include "window/access.h"
#include "window/handle.h"
#include "window/remote_access.h"

using nagaya::base::catch_errors;
using nagaya::window::check;
using nagaya::window::CompareSwap;
using nagaya::window::ElementOperation;
using nagaya::window::is_remote;
using nagaya::window::RemoteAccess;

namespace {

// Checks a call that accesses a window, and counts it. Returns as check().
int begin_access(const nagaya_window* window) {
  const int error = check(window);
  if (error == 0) count(window->board(), window->owner(), &nagaya::llcl::TaskActivity::accesses, 1);
  return error;
}

// Makes an access by a function of RemoteAccess.
template <class... Parameters, class... Arguments>
[[gnu::cold]] int remotely(nagaya_window* window, int (RemoteAccess::*access)(Parameters...),
                           const Arguments&... arguments) {
  return catch_errors(
      [&] { return (RemoteAccess(*window, *window->remote).*access)(arguments...); });
}

int accumulate_at(nagaya_window* window, const nagaya_window_buffer* from,
                  const nagaya_window_buffer* result, const nagaya_window_target& to,
                  ElementOperation what) {
  return is_remote(window, to.rank)
             ? remotely(window, &RemoteAccess::accumulate, from, result, to, what)
             : accumulate(*window, from, result, to, what);
}

}  // namespace

int nagaya_window_put(nagaya_window* window, const nagaya_window_buffer* from,
                      const nagaya_window_target* to) {
  if (const int error = begin_access(window); error != 0) return error;
  if (from == nullptr || to == nullptr) return -EINVAL;
  return is_remote(window, to->rank) ? remotely(window, &RemoteAccess::put, *from, *to)
                                     : put(*window, *from, *to);
}

int nagaya_window_get(nagaya_window* window, const nagaya_window_buffer* to,
                      const nagaya_window_target* from) {
  if (const int error = begin_access(window); error != 0) return error;
  if (from == nullptr || to == nullptr) return -EINVAL;
  return is_remote(window, from->rank) ? remotely(window, &RemoteAccess::get, *to, *from)
                                       : get(*window, *to, *from);
}

int nagaya_window_accumulate(nagaya_window* window, const nagaya_window_buffer* from,
                             const nagaya_window_target* to, nagaya_element_type type,
                             nagaya_reduction operation) {
  if (const int error = begin_access(window); error != 0) return error;
  return to == nullptr ? -EINVAL : accumulate_at(window, from, nullptr, *to, {type, operation});
}

int nagaya_window_get_accumulate(nagaya_window* window, const nagaya_window_buffer* from,
                                 const nagaya_window_buffer* result, const nagaya_window_target* to,
                                 nagaya_element_type type, nagaya_reduction operation) {
  if (const int error = begin_access(window); error != 0) return error;
  if (to == nullptr || result == nullptr) return -EINVAL;
  return accumulate_at(window, from, result, *to, {type, operation});
}

int nagaya_window_fetch_and_op(nagaya_window* window, const void* operand, void* result,
                               uint32_t rank, uint64_t displacement, nagaya_element_type type,
                               nagaya_reduction operation) {
  if (const int error = begin_access(window); error != 0) return error;
  const nagaya::window::Fetch values{operand, result};
  const ElementOperation what{type, operation};
  return is_remote(window, rank)
             ? remotely(window, &RemoteAccess::fetch_and_op, rank, displacement, values, what)
             : fetch_and_op(*window, rank, displacement, values, what);
}

int nagaya_window_compare_and_swap(nagaya_window* window, const void* desired, const void* expected,
                                   void* result, uint32_t rank, uint64_t displacement,
                                   nagaya_element_type type) {
  if (const int error = begin_access(window); error != 0) return error;
  const CompareSwap what{desired, expected, result, type};
  return is_remote(window, rank)
             ? remotely(window, &RemoteAccess::compare_and_swap, rank, displacement, what)
             : compare_and_swap(*window, rank, displacement, what);
}
