// SPDX-License-Identifier: BSD-3-Clause
#include "launch/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <iterator>
#include <utility>

namespace nagaya::tools {

EventLoop::EventLoop()
    : epoll_(base::checked_fd(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      posted_event_(base::checked_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  watch(posted_event_.get(), [this] { run_posted(); });
}

void EventLoop::watch(int fd, std::function<void()> function) {
  functions_[fd] = std::move(function);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    functions_.erase(fd);
    base::throw_errno("cannot watch a connection");
  }
}

void EventLoop::forget(int fd) {
  if (functions_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::post(std::function<void()> function) {
  {
    const std::lock_guard<std::mutex> guard(posted_mutex_);
    posted_.push_back(std::move(function));
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(posted_event_.get(), &one, sizeof one);
}

void EventLoop::run_posted() {
  uint64_t count;
  [[maybe_unused]] const ssize_t got = ::read(posted_event_.get(), &count, sizeof count);
  std::vector<std::function<void()>> functions;
  {
    const std::lock_guard<std::mutex> guard(posted_mutex_);
    functions.swap(posted_);
  }
  for (const auto& function : functions) function();
}

void EventLoop::serve_once(int timeout_ms) {
  epoll_event events[32];
  const int count = ::epoll_wait(epoll_.get(), events, std::size(events), timeout_ms);
  for (int n = 0; n < count; ++n) {
    // An earlier function may have forgotten this descriptor; a copy, because it may forget itself.
    const auto found = functions_.find(events[n].data.fd);
    if (found == functions_.end()) continue;
    const std::function<void()> function = found->second;
    function();
  }
}

}  // namespace nagaya::tools
