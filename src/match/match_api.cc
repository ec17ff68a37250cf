// SPDX-License-Identifier: BSD-3-Clause
// match_api.cc - the C functions of nagaya/match.h.
#include <errno.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/catch_errors.h"
#include "llcl/requests/remote_nodes_by_lane.h"
#include "llcl/requests/tuning.h"
#include "match/matcher.h"
#include "task/api_error.h"
#include "task/space/own_record.h"

namespace nagaya::match {
namespace {

constexpr size_t kEagerMaxLimit = 1 << 20;

// Made by the first open; never destroyed: other threads may still use it while the process exits.
struct TaskMatching {
  TaskMatching(llcl::Endpoint& endpoint, size_t eager_max, bool threads)
      : remote_nodes(endpoint, threads),
        port(endpoint.board(), endpoint.owner(), eager_max, endpoint.waits(), remote_nodes),
        pulls(endpoint.board(), endpoint.owner(), remote_nodes),
        matcher(port, pulls, endpoint.waits(), threads) {}

  llcl::RemoteNodesByLane remote_nodes;
  llcl::Port port;
  llcl::Pulls pulls;
  Matcher matcher;
};
Matcher* own_matcher = nullptr;
bool has_threads;
// One library of the process has called nagaya_match_open().
std::atomic<bool> is_open_by_library = false;

// Returns NAGAYA_EAGER_BYTES, or the default [bytes]. Throws base::Error.
size_t chosen_eager_max() {
  const char* const text = std::getenv("NAGAYA_EAGER_BYTES");
  if (text == nullptr) return Matcher::kEagerMaxDefault;
  const std::string_view word = text;
  uint32_t bytes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  const bool is_number = error == std::errc{} && end == word.data() + word.size();
  if (!is_number || bytes > kEagerMaxLimit)
    throw base::Error(-EINVAL, std::string("NAGAYA_EAGER_BYTES=") + text +
                                   ": set a number of bytes from 0 to " +
                                   std::to_string(kEagerMaxLimit));
  return bytes;
}

// Returns the task's matcher; nullptr: not opened, or a forked child, which has no messages.
Matcher* usable_matcher() {
  return task::own_record() != nullptr ? own_matcher : nullptr;
}

int open(bool threads) {
  llcl::Endpoint* const endpoint = llcl::Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (own_matcher != nullptr) return threads && !has_threads ? -EBUSY : 0;  // opened before
  llcl::Tuning::own().agreed(endpoint->board().tuning);
  const size_t eager_max = chosen_eager_max();
  auto* const matching = new TaskMatching(*endpoint, eager_max, threads);
  own_matcher = &matching->matcher;
  endpoint->be_counted();
  endpoint->waits().begin_polls(endpoint->waiter_of(matching->remote_nodes.lane()));
  if (threads) endpoint->waits().enable_threads();
  has_threads = threads;
  return 0;
}

// Calls `function` with the task's matcher; lets no exception out.
template <class Function>
int with_matcher(Function function) {
  Matcher* const matcher = usable_matcher();
  if (matcher == nullptr) return -ESRCH;
  return base::catch_errors([&] { return function(*matcher); });
}

}  // namespace
}  // namespace nagaya::match

using nagaya::match::Matcher;
using nagaya::match::usable_matcher;
using nagaya::match::with_matcher;

int nagaya_match_open(int threads) {
  if (nagaya::task::own_record() == nullptr) return -ESRCH;
  if (nagaya::match::is_open_by_library.exchange(true)) return -EBUSY;
  const int error = nagaya::task::guarded([&] { return nagaya::match::open(threads != 0); });
  if (error != 0) nagaya::match::is_open_by_library = false;
  return error;
}

int nagaya_match_join(int threads) {
  return nagaya::task::guarded([&] { return nagaya::match::open(threads != 0); });
}

int nagaya_match_close() {
  if (nagaya::task::own_record() == nullptr) return -ESRCH;
  return nagaya::match::is_open_by_library.exchange(false) ? 0 : -ESRCH;
}

nagaya_process nagaya_match_self() {
  const Matcher* const matcher = usable_matcher();
  return matcher == nullptr ? nagaya_process{UINT32_MAX, UINT32_MAX} : matcher->own_process();
}

int nagaya_match_try_send(nagaya_process to, const nagaya_envelope* envelope, const void* data,
                          size_t bytes, const nagaya_runs* runs, uint32_t* serial) {
  return with_matcher([&](Matcher& matcher) {
    return matcher.try_send(to, *envelope, {data, bytes, runs}, serial);
  });
}

int nagaya_match_cancel_send(nagaya_send* send) {
  return with_matcher([&](Matcher& matcher) { return matcher.cancel(*send); });
}

int nagaya_match_send(nagaya_send* send) {
  return with_matcher([&](Matcher& matcher) { return matcher.send(*send); });
}

size_t nagaya_match_eager_max(nagaya_process to) {
  const Matcher* const matcher = usable_matcher();
  return matcher == nullptr ? 0 : matcher->eager_max(to);
}

int nagaya_match_receive(nagaya_receive* receive) {
  return with_matcher([&](Matcher& matcher) { return matcher.receive(*receive); });
}

int nagaya_match_cancel_receive(nagaya_receive* receive) {
  return with_matcher([&](Matcher& matcher) { return matcher.cancel(*receive); });
}

int nagaya_match_probe(const nagaya_envelope* wanted, nagaya_message_description* out) {
  return with_matcher([&](Matcher& matcher) { return matcher.probe(*wanted, out); });
}

int nagaya_match_take(const nagaya_envelope* wanted, nagaya_message_description* out,
                      nagaya_message** message) {
  return with_matcher([&](Matcher& matcher) { return matcher.take(*wanted, out, message); });
}

int nagaya_match_receive_taken(nagaya_message* message, nagaya_receive* receive) {
  return with_matcher([&](Matcher& matcher) { return matcher.receive_taken(message, *receive); });
}

int nagaya_match_drop(uint32_t context) {
  return with_matcher([&](Matcher& matcher) { return matcher.drop(context); });
}

int nagaya_match_progress() {
  return with_matcher([](Matcher& matcher) { return matcher.progress(); });
}

int nagaya_match_wait(int (*is_over)(void* context), void* context, int timeout_ms) {
  return with_matcher([=](Matcher&) {
    return nagaya::llcl::Endpoint::own()->wait_or_fail(
        nagaya::llcl::Purpose::kMessage, [=] { return is_over(context) != 0; }, timeout_ms);
  });
}
