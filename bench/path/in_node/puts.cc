// SPDX-License-Identifier: BSD-3-Clause
// puts.cc - 8 bytes and a flag into the memory of the other task, to and fro: by plain
// stores (the floor) and by the ways of llcl.h.
#include "lines.h"

namespace nagaya::bench {
namespace {

// Stores into the other's lines by plain pointers, as a program that asks for the pointers once.
struct ByPointer : Lines {
  uint64_t* data = static_cast<uint64_t*>(nagaya_llcl_pointer(&other.data_place, 8));
  uint64_t* count = static_cast<uint64_t*>(nagaya_llcl_pointer(&other.count_place, 8));

  void send(uint64_t number) {
    *data = number;
    std::atomic_ref(*count).store(number, std::memory_order_release);  // pairs with receive
  }
};

// Sends by a put whose completion flag is the other's flag, which the receiver sets back to 0.
struct ByFlag : Lines {
  uint64_t number = 0;
  nagaya_llcl_prepared put;

  ByFlag(const ByFlag&) = delete;  // `put` has the address of `number`
  explicit ByFlag(Lines lines) : Lines(lines) {
    const nagaya_llcl_transfer what{other.data_place, &number, 8, nagaya_flag(&other.flag)};
    check(nagaya_llcl_prepare_write(&what, &put), "prepare");
  }
  void send(uint64_t next) {
    number = next;
    check(nagaya_llcl_try_start(&put), "start");
  }
  uint64_t receive(uint64_t) {
    std::atomic_ref flag(own.flag);
    while (flag.load(std::memory_order_acquire) == 0) arch::relax();
    const uint64_t data = own.data;
    flag.store(0, std::memory_order_relaxed);  // before our answer, which the other waits for
    return data;
  }
};

// Sends with a locked add in place of the second store: the cost of a counter that several tasks
// notify.
struct ByAdd : Lines {
  void send(uint64_t next) {
    other.data = next;
    std::atomic_ref(other.count).fetch_add(1, std::memory_order_release);
  }
};

struct ByTry : Lines {
  uint64_t number = 0;

  void send(uint64_t next) {
    number = next;
    const nagaya_llcl_transfer what{other.data_place, &number, 8, {}};
    check(nagaya_llcl_try_write_notify(&what, &other.count_place), "write");
  }
};

}  // namespace

void measure_puts(const Stage& stage) {
  Lines lines = meet_lines(stage);
  ByFlag by_flag(lines);
  ByPointer by_pointer{lines};
  ByAdd by_add{lines};
  ByNotify by_notify(lines);
  ByTry by_try{lines};
  const uint64_t trips = stage.times(100'000);
  for (int round = 0; round < stage.rounds; ++round) {
    const double floor = one_way_ns(stage, lines, trips);
    const auto measured = [&](const char* figure, auto& way) {
      const double ns = one_way_ns(stage, way, trips);
      if (!stage.leads()) return;
      stage.report(figure, kSubject, ns);
      stage.report(figure, kFloor, floor);
    };
    measured("put_flag", by_flag);
    measured("put_pointer", by_pointer);
    measured("put_add", by_add);
    measured("put_notify", by_notify);
    measured("put_notify_unprepared", by_try);
  }
}

}  // namespace nagaya::bench
