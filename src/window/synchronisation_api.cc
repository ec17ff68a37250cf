// SPDX-License-Identifier: BSD-3-Clause
// synchronisation_api.cc - the epochs of nagaya/window.h: among the members of this node by their
// Parts, with others by requests.
#include <span>

#include "llcl/requests/endpoint.h"
#include "window/handle.h"
#include "window/locks.h"
#include "window/remote_locks.h"

using namespace nagaya::window;
using nagaya::base::catch_errors;
using nagaya::llcl::Purpose;
using nagaya::llcl::Recorder;

namespace {

// Orders the caller's loads and stores before its later ones, with all others.
void fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Waits for a word of this node that members on other nodes may change, too: they wake nobody but
// the word's owner.
template <class IsOver>
void wait_for_word(nagaya_window& window, IsOver is_over) {
  constexpr int kPollMs = 1;
  while (wait(Purpose::kLock, is_over, window.remote == nullptr ? -1 : kPollMs) == -ETIMEDOUT)
    continue;
}

// Calls each(index of the node) for all nodes, in an order that is the same at all members.
template <class Here, class There>
int for_each_node(nagaya_window& window, Here here, There there) {
  return catch_errors([&] {
    const uint32_t own = window.remote->own_node();
    for (uint32_t node = 0; node < window.remote->by_node().nodes(); ++node)
      if (node == own)
        here();
      else
        there(node);
    return 0;
  });
}

// Tells readers of the task's activity for whom it waits.
void expect_post_of(nagaya_window& window, uint32_t rank) {
  Recorder& recorder = nagaya::llcl::Endpoint::own()->recorder();
  if (recorder.is_read()) [[unlikely]]
    recorder.expect(Purpose::kWindow, window.process_of(rank));
}

void lock_all_here(nagaya_window& window) {
  LockAllRequest request(window);
  wait_for_word(window, [&] { return request.is_granted(); });
}

// Returns the first error of both. Waits for the accesses also where signals fail: until these are
// complete they use the caller's buffers.
int signal_and_flush(auto signal, auto flush) {
  const int error = catch_errors([&] {
    signal();
    return 0;
  });
  const int of_accesses = catch_errors(flush);
  return error != 0 ? error : of_accesses;
}

int complete_remote(nagaya_window& window) {
  const auto complete = [&] {
    for (uint32_t rank = 0; rank < window.size(); ++rank) {
      if (window.epochs().target(rank) != Access::kStarted || !window.is_remote(rank)) continue;
      window.epochs().set_target(rank, Access::kNone);
      window.remote->complete(rank);
    }
  };
  return signal_and_flush(complete, [&] { return window.remote->flush_all(); });
}

// The end of a wait for a request, as Wait::until() asks for it.
struct IsGranted {
  LockRequest& request;

  bool operator()() const { return request.is_granted(); }
  bool is_far() const { return request.is_far(); }
};

Access locked_here(nagaya_window& window, uint32_t rank, bool is_exclusive, bool has_others) {
  LockRequest request(window, rank, is_exclusive, has_others);
  if (window.remote == nullptr)
    nagaya::llcl::Endpoint::own()->wait(Purpose::kLock, IsGranted{request});
  else
    wait_for_word(window, IsGranted{request});
  return request.access();
}

}  // namespace

int nagaya_window_fence(nagaya_window* window, uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  if (const int error = window->epochs().begin_fence(); error != 0) return error;
  constexpr uint32_t kNothing = NAGAYA_WINDOW_NO_PRECEDE | NAGAYA_WINDOW_NO_SUCCEED;
  const int error = catch_errors([&] {
    const int failure = flush_remote(*window);
    if ((assertions & kNothing) != kNothing) wait_for_all(*window);
    return failure;
  });
  window->epochs().end_fence((assertions & NAGAYA_WINDOW_NO_SUCCEED) == 0);
  return error;
}

int nagaya_window_post(nagaya_window* window, const uint32_t* ranks, uint32_t count,
                       uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  if ((ranks == nullptr && count != 0) || !window->has_all({ranks, count})) return -EINVAL;
  const bool is_unchecked = (assertions & NAGAYA_WINDOW_NO_CHECK) != 0;
  const int error = window->post({ranks, count}, is_unchecked);
  if (error != 0 || is_unchecked || window->remote == nullptr) return error;
  return catch_errors([&] {
    for (const uint32_t rank : std::span(ranks, count))
      if (window->is_remote(rank)) window->remote->post(rank);
    return 0;
  });
}

int nagaya_window_wait(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->is_posted()) return -EPROTO;
  wait(Purpose::kWindow, [&] { return window->end_exposure(); });
  return 0;
}

int nagaya_window_test(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->is_posted()) return -EPROTO;
  if (window->end_exposure()) return 1;
  nagaya::llcl::Endpoint::own()->waits().poll();
  return window->end_exposure() ? 1 : 0;
}

int nagaya_window_start(nagaya_window* window, const uint32_t* ranks, uint32_t count,
                        uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  if ((ranks == nullptr && count != 0) || !window->has_all({ranks, count})) return -EINVAL;
  if (const int error = window->epochs().begin_start(); error != 0) return error;
  const bool is_unchecked = (assertions & NAGAYA_WINDOW_NO_CHECK) != 0;
  uint32_t started = 0;
  wait(Purpose::kWindow, [&] {
    while (started < count && window->start(ranks[started], is_unchecked)) ++started;
    if (started < count) expect_post_of(*window, ranks[started]);
    return started == count;
  });
  return 0;
}

int nagaya_window_complete(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->epochs().is_started()) return -EPROTO;
  const int error = window->remote == nullptr ? 0 : complete_remote(*window);
  window->complete();
  window->epochs().end_start();  // last: other epochs of these targets may begin now
  return error;
}

int nagaya_window_lock(nagaya_window* window, nagaya_window_lock_kind kind, uint32_t rank,
                       uint32_t assertions) {
  if (const int error = check(window, rank); error != 0) return error;
  if (kind != NAGAYA_WINDOW_SHARED && kind != NAGAYA_WINDOW_EXCLUSIVE) return -EINVAL;
  bool has_others = false;
  if (const int error = window->epochs().begin_lock(rank, &has_others); error != 0) return error;
  const bool is_exclusive = kind == NAGAYA_WINDOW_EXCLUSIVE;
  Access access = Access::kUnchecked;
  const bool is_unchecked = (assertions & NAGAYA_WINDOW_NO_CHECK) != 0;
  const int error = is_unchecked ? 0 : catch_errors([&] {
    access = is_remote(window, rank)
                 ? RemoteLocks(*window->remote).lock(rank, is_exclusive, has_others)
                 : locked_here(*window, rank, is_exclusive, has_others);
    return 0;
  });
  window->epochs().set_target(rank, access);
  return error;
}

int nagaya_window_try_lock(nagaya_window* window, uint32_t rank) {
  if (const int error = check(window, rank); error != 0) return error;
  bool has_others = false;
  if (const int error = window->epochs().begin_lock(rank, &has_others); error != 0) return error;
  Access access = Access::kNone;
  const int error = catch_errors([&] {
    access = is_remote(window, rank) ? RemoteLocks(*window->remote).try_lock(rank)
                                     : try_lock(*window, rank);
    return access == Access::kNone ? -EAGAIN : 0;
  });
  if (error == 0)
    window->epochs().set_target(rank, access);
  else
    window->epochs().undo_lock(rank);
  return error;
}

int nagaya_window_is_locked(nagaya_window* window, uint32_t rank) {
  if (const int error = check(window, rank); error != 0) return error;
  return catch_errors([&] {
    const bool is_free = is_remote(window, rank) ? RemoteLocks(*window->remote).is_free(rank)
                                                 : window->part(rank).lock.is_free();
    return is_free ? 0 : 1;
  });
}

int nagaya_window_unlock(nagaya_window* window, uint32_t rank) {
  if (const int error = check(window, rank); error != 0) return error;
  Access access = Access::kNone;
  if (const int error = window->epochs().end_lock(rank, &access); error != 0) return error;
  if (is_remote(window, rank))
    return signal_and_flush([&] { RemoteLocks(*window->remote).unlock(rank, access); },
                            [&] { return window->remote->flush(rank); });
  window->unlock(rank, access);
  return 0;
}

int nagaya_window_lock_all(nagaya_window* window, uint32_t assertions) {
  if (const int error = check(window); error != 0) return error;
  const bool is_unchecked = (assertions & NAGAYA_WINDOW_NO_CHECK) != 0;
  if (const int error = window->epochs().begin_lock_all(is_unchecked); error != 0) return error;
  if (is_unchecked) return 0;
  int error = 0;
  if (window->remote == nullptr)
    lock_all_here(*window);
  else
    error = for_each_node(
        *window, [&] { lock_all_here(*window); },
        [&](uint32_t node) { RemoteLocks(*window->remote).lock_all(node); });
  window->epochs().grant_lock_all();
  return error;
}

int nagaya_window_unlock_all(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  bool was_unchecked = false;
  if (const int error = window->epochs().end_lock_all(&was_unchecked); error != 0) return error;
  const int error = flush_remote(*window);
  if (was_unchecked) return error;
  if (window->remote == nullptr) {
    window->unlock_all();
    return 0;
  }
  const int failure = for_each_node(
      *window, [&] { window->unlock_all(); },
      [&](uint32_t node) { RemoteLocks(*window->remote).unlock_all(node); });
  return error != 0 ? error : failure;
}

int nagaya_window_flush(nagaya_window* window, uint32_t rank) {
  if (const int error = check(window, rank); error != 0) return error;
  if (!window->epochs().has_lock_all() && !window->epochs().has_lock(rank)) return -EPROTO;
  fence();
  return is_remote(window, rank) ? window->remote->flush(rank) : 0;
}

int nagaya_window_flush_all(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  if (!window->epochs().has_locks()) return -EPROTO;
  fence();
  return flush_remote(*window);
}

int nagaya_window_sync(nagaya_window* window) {
  if (const int error = check(window); error != 0) return error;
  fence();
  return 0;
}
