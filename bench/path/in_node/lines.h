// SPDX-License-Identifier: BSD-3-Clause
// lines.h - two cache lines of each rank, one for 8 bytes and one for a flag that counts, and the
// ping-pong through them.
#pragma once

#include <atomic>

#include "arch/arch.h"
#include "in_node.h"

namespace nagaya::bench {

// The lines into which the partner stores. 128: the processor prefetches cache lines in pairs.
struct Inbox {
  alignas(128) uint64_t count = 0;
  alignas(128) uint64_t data = 0;
  alignas(128) uint32_t flag = 0;  // used in place of the count by ByFlag
  alignas(128) nagaya_remote data_place{}, count_place{};
};

// The lines of a rank and of its partner. Sends by plain stores, the floor; the structs derived
// from it send in other ways.
struct Lines {
  Inbox &own, &other;

  void reset() { own.count = 0, own.flag = 0; }
  void send(uint64_t number) {
    other.data = number;
    std::atomic_ref(other.count).store(number, std::memory_order_release);  // pairs with receive
  }
  uint64_t receive(uint64_t number) {
    while (std::atomic_ref(own.count).load(std::memory_order_acquire) != number) arch::relax();
    return own.data;
  }
};

// Sends by llcl.h: a prepared put that notifies.
struct ByNotify : Lines {
  uint64_t number = 0;
  nagaya_llcl_prepared put;

  ByNotify(const ByNotify&) = delete;  // `put` has the address of `number`
  explicit ByNotify(Lines lines) : Lines(lines) {
    const nagaya_llcl_transfer what{other.data_place, &number, 8, {}};
    check(nagaya_llcl_prepare_write_notify(&what, &other.count_place, &put), "prepare");
  }
  void send(uint64_t next) {
    number = next;
    check(nagaya_llcl_try_start(&put), "start");
  }
};

// Publishes lines of this rank; returns them and those of its partner.
inline Lines meet_lines(const Stage& stage) {
  auto* const own = new Inbox;  // for as long as the process lives
  check(nagaya_llcl_register(&own->count, 8, &own->count_place), "register");
  check(nagaya_llcl_register(&own->data, 8, &own->data_place), "register");
  check(nagaya_task_publish("inbox", own), "publish");
  return {*own, of_rank<Inbox>(stage.partner(), "inbox")};
}

// The messages are 1, 2, 3 ...; both sides check each. mark() after each answer.
template <class Way, class Mark>
void ping_pong(const Stage& stage, Way& way, uint64_t round_trips, Mark mark) {
  way.reset();
  bool right = !stage.corrupt;
  stage.meet();
  for (uint64_t n = 1; n <= round_trips; ++n) {
    if (stage.rank % 2 == 0) way.send(n);
    right &= way.receive(n) == n;
    if (stage.rank % 2 != 0) way.send(n);
    mark();
  }
  stage.meet();
  expect(right);
}

// Returns the time of one message [ns].
template <class Way>
double one_way_ns(const Stage& stage, Way& way, uint64_t round_trips) {
  Batches batches(100);
  ping_pong(stage, way, round_trips, [&] { batches.mark(); });
  return batches.median_ns() / 2;
}

}  // namespace nagaya::bench
