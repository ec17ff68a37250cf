// SPDX-License-Identifier: BSD-3-Clause
// window_api.cc - the functions of nagaya/window.h that make and end windows.
#include <errno.h>

#include <algorithm>
#include <memory>

#include "base/catch_errors.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/processes.h"
#include "window/handle.h"

using nagaya::base::catch_errors;
using nagaya::llcl::Endpoint;
using nagaya::processes::ProcessSet;
using nagaya::window::check;
using nagaya::window::RemoteMembers;
using nagaya::window::Window;

namespace {

constexpr uint64_t kContexts = uint64_t{1} << 56;

// Called in place of a window by a member that has no memory for one: the other members fail, too.
int open_without_memory(Endpoint& endpoint, uint64_t context, const ProcessSet& set) {
  nagaya::llcl::Group group;
  const int error =
      group.open(endpoint.board(), endpoint.record(), nagaya::window::group_name_of(context),
                 set.tasks_here(), nagaya::window::Part::bytes_for(set.size()));
  if (error == 0) Window::announce_error(group, set.index_of(set.rank()), -ENOMEM);
  return -ENOMEM;
}

// Opens the window among the members of this node.
int open_here(Endpoint& endpoint, uint64_t context, const ProcessSet& set,
              const nagaya_window_memory& own, nagaya_window& window) {
  const auto tasks = set.tasks_here();
  if (const int error = window.join(context, tasks); error != 0) return error;
  window.announce(own);
  endpoint.wait(nagaya::llcl::Purpose::kWindow, [&] { return window.is_opened(); });
  return window.opening_error();
}

int open_over_nodes(Endpoint& endpoint, uint64_t context, const nagaya_processes& members,
                    const nagaya_window_memory& wanted, bool has_threads, nagaya_window** out) {
  if (context >= RemoteMembers::kContexts) return -EINVAL;
  nagaya_window_memory own = wanted;
  if (own.error == 0 && own.kind == NAGAYA_WINDOW_CONTIGUOUS) own.error = -EOPNOTSUPP;
  const ProcessSet& set = *members.set;
  auto window = std::make_unique<nagaya_window>(endpoint.board(), endpoint.record(), set.rank(),
                                                set.size(), has_threads, members.set);
  window->remote = std::make_unique<RemoteMembers>(context, members, members.set, has_threads);
  const int error_here = open_here(endpoint, context, set, own, *window);
  const int error = window->remote->exchange(*window, error_here);
  if (error == 0) *out = window.release();
  return error;
}

int open_in_node(Endpoint& endpoint, uint64_t context, const nagaya_processes& members,
                 const nagaya_window_memory& own, bool has_threads, nagaya_window** out) {
  const ProcessSet& set = *members.set;
  std::unique_ptr<nagaya_window> window;
  const int error = catch_errors([&] {
    window = std::make_unique<nagaya_window>(endpoint.board(), endpoint.record(), set.rank(),
                                             set.size(), has_threads);
    return 0;
  });
  if (error != 0) return open_without_memory(endpoint, context, set);
  const int refused = open_here(endpoint, context, set, own, *window);
  if (refused == 0) *out = window.release();
  return refused;
}

}  // namespace

int nagaya_window_open(uint64_t context, const nagaya_processes* members,
                       const nagaya_window_memory* own, int threads, nagaya_window** out) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (members == nullptr || !members->set->has_caller() || own == nullptr || out == nullptr ||
      context >= kContexts)
    return -EINVAL;
  if (threads != 0) endpoint->waits().enable_threads();
  const auto make = members->set->by_node().nodes() > 1 ? open_over_nodes : open_in_node;
  return catch_errors([&] { return make(*endpoint, context, *members, *own, threads != 0, out); });
}

int nagaya_window_close(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (window->has_epoch()) return -EBUSY;
  return catch_errors([&] {
    int error = nagaya::window::flush_remote(*window);
    if (window->remote != nullptr) error = std::min(error, window->remote->await_signals());
    nagaya::window::wait_for_all(*window);
    delete window;
    return error;
  });
}

int nagaya_window_has_epoch(const nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  return window->has_epoch() ? 1 : 0;
}

int nagaya_window_part_of(const nagaya_window* window, uint32_t rank, nagaya_window_part* out) {
  if (const int error = check(window, rank); error != 0) return error;
  if (out == nullptr) return -EINVAL;
  if (nagaya::window::is_remote(window, rank)) {
    const auto memory = window->remote->memory(rank);
    *out = {nullptr, memory.bytes, memory.unit};
    return 0;
  }
  const auto& part = window->part(rank);
  *out = {part.base, part.bytes, part.unit};
  return 0;
}

int nagaya_window_attach(nagaya_window* window, void* base, size_t bytes) {
  if (const int error = check(window); error != 0) return error;
  if (!window->is_dynamic() || (base == nullptr && bytes != 0)) return -EINVAL;
  const int error = catch_errors([&] { return window->attach(base, bytes); });
  if (error != 0 || bytes == 0 || window->remote == nullptr) return error;
  const int failure = catch_errors([&] { return window->remote->attach(base, bytes); });
  if (failure != 0) window->detach(base);
  return failure;
}

int nagaya_window_detach(nagaya_window* window, const void* base) {
  if (const int error = check(window); error != 0) return error;
  if (!window->is_dynamic()) return -EINVAL;
  const int error = window->detach(base);
  if (error == 0 && window->remote != nullptr) window->remote->detach(base);
  return error;
}
