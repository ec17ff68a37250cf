// SPDX-License-Identifier: BSD-3-Clause
// crowd.cc - more tasks than processors: pairs that wait through the library, which yields
// and sleeps, beside plain lines whose waiters yield.
#include <sched.h>

#include "lines.h"
#include "messages.h"

namespace nagaya::bench {
namespace {

struct Yielding : Lines {
  uint64_t receive(uint64_t number) {
    while (std::atomic_ref(own.count).load(std::memory_order_acquire) != number) ::sched_yield();
    return own.data;
  }
};

struct Waiting : ByNotify {
  using ByNotify::ByNotify;

  uint64_t receive(uint64_t least) {
    check(nagaya_llcl_wait_counter(&own.count, least, -1), "wait");
    return own.data;
  }
};

// Returns the time per message of all pairs together [ns].
template <class Way>
double ns_each(const Stage& stage, Way& way, uint64_t trips) {
  const double ns = ns_of([&] { ping_pong(stage, way, trips, [] {}); });
  return ns / static_cast<double>(trips * static_cast<uint64_t>(stage.ranks));
}

}  // namespace

void measure_crowd(const Stage& stage) {
  const Lines lines = meet_lines(stage);
  Yielding yielding{lines};
  Waiting waiting(lines);
  ActiveMessages active(stage);
  const std::string pairs = std::to_string(stage.ranks / 2);
  const uint64_t trips = stage.times(2'000);
  for (int round = 0; round < stage.rounds; ++round) {
    const double put = ns_each(stage, waiting, trips);
    const double plain = ns_each(stage, yielding, trips);
    const double handled = active.ping_pong_ns(trips / 4);
    if (!stage.leads()) continue;
    stage.report("crowd_put_" + pairs, kSubject, put);
    stage.report("crowd_put_" + pairs, kIncumbent, plain);
    stage.report("crowd_message_" + pairs, kSubject, handled);
    stage.report("crowd_message_" + pairs, kIncumbent, plain);
  }
}

}  // namespace nagaya::bench
