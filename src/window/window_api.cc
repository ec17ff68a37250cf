// SPDX-License-Identifier: BSD-3-Clause
// window_api.cc - the C functions of nagaya/window.h.
#include <errno.h>

#include <memory>

#include "base/catch_errors.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/processes.h"
#include "task/space/own_record.h"
#include "window/access.h"
#include "window/locks.h"
#include "window/window.h"

using nagaya::base::catch_errors;
using nagaya::llcl::Endpoint;
using nagaya::window::Access;
using nagaya::window::LockAllRequest;
using nagaya::window::LockRequest;
using nagaya::window::Window;

struct nagaya_window : Window {
  using Window::Window;
};

namespace {

constexpr uint64_t kContexts = uint64_t{1} << 56;

// Returns 0, or the error of a call for `window`.
int check(const nagaya_window* window) {
  if (nagaya::task::own_record() == nullptr) return -ESRCH;
  return window == nullptr ? -EINVAL : 0;
}
int check(const nagaya_window* window, uint32_t rank) {
  const int error = check(window);
  return error == 0 && rank >= window->size() ? -EINVAL : error;
}

// Orders the caller's loads and stores before its later ones, with all others.
void fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Called in place of a window by a member that has no memory for one: the other members fail, too.
int open_without_memory(Endpoint& endpoint, uint64_t context, uint32_t rank,
                        std::span<const uint32_t> tasks) {
  nagaya::llcl::Group group;
  const int error =
      group.open(endpoint.board(), endpoint.record(), nagaya::window::group_name_of(context), tasks,
                 nagaya::window::Part::bytes_for(static_cast<uint32_t>(tasks.size())));
  if (error == 0) Window::announce_error(group, rank, -ENOMEM);
  return -ENOMEM;
}

int open(Endpoint& endpoint, uint64_t context, const nagaya_processes& members,
         const nagaya_window_memory& own, bool has_threads, nagaya_window** out) {
  const auto tasks = members.set->tasks_here();
  const uint32_t rank = members.set->rank();
  std::unique_ptr<nagaya_window> window;
  const int error = catch_errors([&] {
    window = std::make_unique<nagaya_window>(endpoint.board(), endpoint.record(), rank,
                                             members.set->size(), has_threads);
    return 0;
  });
  if (error != 0) return open_without_memory(endpoint, context, rank, tasks);
  if (const int refused = window->join(context, tasks); refused != 0) return refused;
  window->announce(own);
  endpoint.wait([&] { return window->is_opened(); });
  if (window->opening_error() != 0) return window->opening_error();
  *out = window.release();
  return 0;
}

void wait_for_all(Endpoint& endpoint, Window& window) {
  const uint64_t arrivals = window.arrive();
  endpoint.wait([&] { return window.have_arrived(arrivals); });
}

}  // namespace

int nagaya_window_open(uint64_t context, const nagaya_processes* members,
                       const nagaya_window_memory* own, int threads, nagaya_window** out) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (members == nullptr || !members->set->has_caller() || own == nullptr || out == nullptr ||
      context >= kContexts)
    return -EINVAL;
  if (members->set->by_node().nodes() > 1) return -EOPNOTSUPP;
  if (threads != 0) endpoint->waits().enable_threads();
  return catch_errors([&] { return open(*endpoint, context, *members, *own, threads != 0, out); });
}

int nagaya_window_close(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (window->has_epoch()) return -EBUSY;
  wait_for_all(*Endpoint::own(), *window);
  delete window;
  return 0;
}

int nagaya_window_has_epoch(const nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  return window->has_epoch() ? 1 : 0;
}

int nagaya_window_part_of(const nagaya_window* window, uint32_t rank, nagaya_window_part* out) {
  if (const int error = check(window, rank); error != 0) return error;
  if (out == nullptr) return -EINVAL;
  const auto& part = window->part(rank);
  *out = {part.base, part.bytes, part.unit};
  return 0;
}

int nagaya_window_attach(nagaya_window* window, void* base, size_t bytes) {
  if (const int error = check(window); error != 0) return error;
  if (!window->is_dynamic() || (base == nullptr && bytes != 0)) return -EINVAL;
  return catch_errors([&] { return window->attach(base, bytes); });
}

int nagaya_window_detach(nagaya_window* window, const void* base) {
  if (const int error = check(window); error != 0) return error;
  return window->is_dynamic() ? window->detach(base) : -EINVAL;
}

// ---- access -----------------------------------------------------------------------------------

int nagaya_window_put(nagaya_window* window, const nagaya_window_buffer* from,
                      const nagaya_window_target* to) {
  if (const int error = check(window); error != 0) return error;
  return from == nullptr || to == nullptr ? -EINVAL : put(*window, *from, *to);
}

int nagaya_window_get(nagaya_window* window, const nagaya_window_buffer* to,
                      const nagaya_window_target* from) {
  if (const int error = check(window); error != 0) return error;
  return from == nullptr || to == nullptr ? -EINVAL : get(*window, *to, *from);
}

int nagaya_window_accumulate(nagaya_window* window, const nagaya_window_buffer* from,
                             const nagaya_window_target* to, nagaya_element_type type,
                             nagaya_reduction operation) {
  if (const int error = check(window); error != 0) return error;
  return to == nullptr ? -EINVAL : accumulate(*window, from, nullptr, *to, {type, operation});
}

int nagaya_window_get_accumulate(nagaya_window* window, const nagaya_window_buffer* from,
                                 const nagaya_window_buffer* result, const nagaya_window_target* to,
                                 nagaya_element_type type, nagaya_reduction operation) {
  if (const int error = check(window); error != 0) return error;
  if (to == nullptr || result == nullptr) return -EINVAL;
  return accumulate(*window, from, result, *to, {type, operation});
}

int nagaya_window_fetch_and_op(nagaya_window* window, const void* operand, void* result,
                               uint32_t rank, uint64_t displacement, nagaya_element_type type,
                               nagaya_reduction operation) {
  if (const int error = check(window); error != 0) return error;
  return fetch_and_op(*window, rank, displacement, {operand, result}, {type, operation});
}

int nagaya_window_compare_and_swap(nagaya_window* window, const void* desired, const void* expected,
                                   void* result, uint32_t rank, uint64_t displacement,
                                   nagaya_element_type type) {
  if (const int error = check(window); error != 0) return error;
  return compare_and_swap(*window, rank, displacement, {desired, expected, result, type});
}

// ---- synchronisation --------------------------------------------------------------------------

int nagaya_window_fence(nagaya_window* window, uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  if (const int error = window->epochs().begin_fence(); error != 0) return error;
  constexpr uint32_t kNothing = NAGAYA_WINDOW_NO_PRECEDE | NAGAYA_WINDOW_NO_SUCCEED;
  if ((assertions & kNothing) != kNothing) wait_for_all(*Endpoint::own(), *window);
  window->epochs().end_fence((assertions & NAGAYA_WINDOW_NO_SUCCEED) == 0);
  return 0;
}

int nagaya_window_post(nagaya_window* window, const uint32_t* ranks, uint32_t count,
                       uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  if ((ranks == nullptr && count != 0) || !window->has_all({ranks, count})) return -EINVAL;
  return window->post({ranks, count}, (assertions & NAGAYA_WINDOW_NO_CHECK) != 0);
}

int nagaya_window_wait(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->is_posted()) return -EPROTO;
  Endpoint::own()->wait([&] { return window->end_exposure(); });
  return 0;
}

int nagaya_window_test(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->is_posted()) return -EPROTO;
  if (window->end_exposure()) return 1;
  Endpoint::own()->waits().poll();
  return window->end_exposure() ? 1 : 0;
}

int nagaya_window_start(nagaya_window* window, const uint32_t* ranks, uint32_t count,
                        uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  if ((ranks == nullptr && count != 0) || !window->has_all({ranks, count})) return -EINVAL;
  if (const int error = window->epochs().begin_start(); error != 0) return error;
  const bool is_unchecked = (assertions & NAGAYA_WINDOW_NO_CHECK) != 0;
  uint32_t started = 0;
  Endpoint::own()->wait([&] {
    while (started < count && window->start(ranks[started], is_unchecked)) ++started;
    return started == count;
  });
  return 0;
}

int nagaya_window_complete(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->epochs().is_started()) return -EPROTO;
  window->complete();
  window->epochs().end_start();  // last: other epochs of these targets may begin now
  return 0;
}

int nagaya_window_lock(nagaya_window* window, nagaya_window_lock_kind kind, uint32_t rank,
                       uint32_t assertions) {
  if (const int error = check(window, rank); error != 0) return error;
  if (kind != NAGAYA_WINDOW_SHARED && kind != NAGAYA_WINDOW_EXCLUSIVE) return -EINVAL;
  bool has_others = false;
  if (const int error = window->epochs().begin_lock(rank, &has_others); error != 0) return error;
  Access access = Access::kUnchecked;
  if ((assertions & NAGAYA_WINDOW_NO_CHECK) == 0) {
    LockRequest request(*window, rank, kind == NAGAYA_WINDOW_EXCLUSIVE, has_others);
    Endpoint::own()->wait([&] { return request.is_granted(); });
    access = request.access();
  }
  window->epochs().set_target(rank, access);
  return 0;
}

int nagaya_window_unlock(nagaya_window* window, uint32_t rank) {
  if (const int error = check(window, rank); error != 0) return error;
  Access access = Access::kNone;
  if (const int error = window->epochs().end_lock(rank, &access); error != 0) return error;
  window->unlock(rank, access);
  return 0;
}

int nagaya_window_lock_all(nagaya_window* window, uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  const bool is_unchecked = (assertions & NAGAYA_WINDOW_NO_CHECK) != 0;
  if (const int error = window->epochs().begin_lock_all(is_unchecked); error != 0) return error;
  if (is_unchecked) return 0;
  LockAllRequest request(*window);
  Endpoint::own()->wait([&] { return request.is_granted(); });
  window->epochs().grant_lock_all();
  return 0;
}

int nagaya_window_unlock_all(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  bool was_unchecked = false;
  if (const int error = window->epochs().end_lock_all(&was_unchecked); error != 0) return error;
  if (!was_unchecked) window->unlock_all();
  return 0;
}

int nagaya_window_flush(nagaya_window* window, uint32_t rank) {
  if (const int error = check(window, rank); error != 0) return error;
  if (!window->epochs().has_lock_all() && !window->epochs().has_lock(rank)) return -EPROTO;
  fence();
  return 0;
}

int nagaya_window_flush_all(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->epochs().has_locks()) return -EPROTO;
  fence();
  return 0;
}

int nagaya_window_sync(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  fence();
  return 0;
}
