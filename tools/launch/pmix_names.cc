// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_names.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace nagaya::tools {
namespace {

// More than any MPI program publishes; one rank must not fill the launcher's memory.
constexpr size_t kMostPublishedBytes = size_t{16} << 20;
constexpr size_t kMostWaiting = 4096;

size_t bytes_of(const PublishedName& name) {
  return sizeof name + name.name.size() + name.value.bytes.size();
}

bool exclude_each_other(const PublishedName& a, const PublishedName& b) {
  if (a.name != b.name || a.is_for_own_job != b.is_for_own_job) return false;
  return !a.is_for_own_job || a.publisher.job == b.publisher.job;
}

bool is_seen_by(const PublishedName& published, const NameQuery& query) {
  if (!published.is_for_own_job && !query.is_for_own_job) return true;
  return published.publisher.job == query.process.job;
}

}  // namespace

PublishedNames::PublishedNames(EventLoop& loop)
    : loop_(loop),
      timer_(base::checked_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                              "timerfd_create")) {
  loop_.watch(timer_.get(), [this] { end_late(); });
}

PublishedNames::~PublishedNames() {
  loop_.forget(timer_.get());
}

pmix_status_t PublishedNames::publish(std::vector<PublishedName> names) {
  size_t bytes = 0;
  for (const PublishedName& name : names) {
    bytes += bytes_of(name);
    for (const PublishedName& other : published_)
      if (exclude_each_other(name, other)) return PMIX_ERR_DUPLICATE_KEY;
  }
  if (published_bytes_ + bytes > kMostPublishedBytes) return PMIX_ERR_OUT_OF_RESOURCE;
  published_bytes_ += bytes;
  published_.insert(published_.end(), std::make_move_iterator(names.begin()),
                    std::make_move_iterator(names.end()));
  serve_waiting();
  return PMIX_SUCCESS;
}

void PublishedNames::look_up(NameQuery query, bool waits, std::optional<Clock::time_point> deadline,
                             Found found) {
  const std::vector<PublishedName> names = find(query);
  if (names.size() == query.names.size()) {
    forget_read(names);
    found(PMIX_SUCCESS, names);
  } else if (!waits) {
    forget_read(names);
    found(names.empty() ? PMIX_ERR_NOT_FOUND : PMIX_ERR_PARTIAL_SUCCESS, names);
  } else if (waiting_.size() == kMostWaiting) {
    found(PMIX_ERR_OUT_OF_RESOURCE, {});
  } else {
    waiting_.push_back({std::move(query), deadline, std::move(found)});
    set_timer();
  }
}

void PublishedNames::unpublish(const NameQuery& query) {
  forget_if([&](const PublishedName& published) {
    return published.publisher == query.process &&
           std::find(query.names.begin(), query.names.end(), published.name) != query.names.end();
  });
}

void PublishedNames::process_has_ended(const PmixProcess& process) {
  forget_if([&](const PublishedName& published) {
    return published.publisher == process && published.persistence == PMIX_PERSIST_PROC;
  });
}

void PublishedNames::job_has_ended(const std::string& job) {
  forget_if([&](const PublishedName& published) {
    return published.publisher.job == job && (published.persistence == PMIX_PERSIST_PROC ||
                                              published.persistence == PMIX_PERSIST_APP);
  });
  end_waiting(PMIX_ERR_NOT_FOUND,
              [&](const Waiting& waiting) { return waiting.query.process.job == job; });
}

std::vector<PublishedName> PublishedNames::find(const NameQuery& query) const {
  std::vector<PublishedName> names;
  for (const std::string& name : query.names) {
    const auto found =
        std::find_if(published_.begin(), published_.end(), [&](const PublishedName& published) {
          return published.name == name && is_seen_by(published, query);
        });
    if (found != published_.end()) names.push_back(*found);
  }
  return names;
}

void PublishedNames::forget_read(const std::vector<PublishedName>& names) {
  forget_if([&](const PublishedName& published) {
    return published.persistence == PMIX_PERSIST_FIRST_READ &&
           std::any_of(names.begin(), names.end(), [&](const PublishedName& name) {
             return exclude_each_other(name, published);
           });
  });
}

template <class Condition>
void PublishedNames::forget_if(Condition is_forgotten) {
  std::erase_if(published_, [&](const PublishedName& published) {
    if (!is_forgotten(published)) return false;
    published_bytes_ -= bytes_of(published);
    return true;
  });
}

template <class Condition>
void PublishedNames::end_waiting(pmix_status_t status, Condition is_ended) {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (!is_ended(waiting)) return false;
    waiting.found(status, {});
    return true;
  });
  set_timer();
}

void PublishedNames::serve_waiting() {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    const std::vector<PublishedName> names = find(waiting.query);
    if (names.size() != waiting.query.names.size()) return false;
    forget_read(names);
    waiting.found(PMIX_SUCCESS, names);
    return true;
  });
}

void PublishedNames::end_late() {
  uint64_t count;
  [[maybe_unused]] const ssize_t got = ::read(timer_.get(), &count, sizeof count);
  const Clock::time_point now = Clock::now();
  end_waiting(PMIX_ERR_TIMEOUT,
              [&](const Waiting& waiting) { return waiting.deadline && *waiting.deadline <= now; });
}

// Sets the timer to the earliest deadline.
void PublishedNames::set_timer() {
  std::optional<Clock::time_point> next;
  for (const Waiting& waiting : waiting_)
    if (waiting.deadline && (!next || *waiting.deadline < *next)) next = waiting.deadline;
  itimerspec setting{};  // all zero: never
  if (next) {
    const auto since_epoch = next->time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
    setting.it_value.tv_sec = seconds.count();
    setting.it_value.tv_nsec = std::chrono::nanoseconds(since_epoch - seconds).count();
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

}  // namespace nagaya::tools
