// SPDX-License-Identifier: BSD-3-Clause
// messages.h - ping-pong of active messages of 8 bytes, each answered by its handler.
#pragma once

#include <atomic>

#include "in_node.h"

namespace nagaya::bench {

class ActiveMessages {
 public:
  explicit ActiveMessages(const Stage& stage) : stage_(stage) {
    check(nagaya_llcl_handle(kHandler, hear, this), "handle");
    stage.meet();
  }

  // Returns the time per message of all pairs together [ns].
  double ping_pong_ns(uint64_t round_trips) {
    trips_ = round_trips;
    heard_ = 0;
    over_ = 0;
    right_.store(!stage_.corrupt);
    stage_.meet();
    const double ns = ns_of([&] {
      if (stage_.rank % 2 == 0) send(1);
      check(nagaya_llcl_wait_flag(&over_, -1), "wait");
      stage_.meet();
    });
    expect(right_.load());
    return ns / static_cast<double>(round_trips * static_cast<uint64_t>(stage_.ranks));
  }

 private:
  static constexpr uint32_t kHandler = 1;

  static void hear(void* self, nagaya_process, const void* data, size_t bytes) {
    static_cast<ActiveMessages*>(self)->hear(data, bytes);
  }
  void hear(const void* data, size_t bytes) {
    if (bytes != 8 || *static_cast<const uint64_t*>(data) != ++heard_) right_.store(false);
    const bool last = heard_ == trips_;
    if (stage_.rank % 2 != 0)
      send(heard_);
    else if (!last)
      send(heard_ + 1);
    if (last) std::atomic_ref(over_).store(1, std::memory_order_release);  // pairs with wait_flag
  }
  void send(uint64_t number) {
    const nagaya_process partner{0, static_cast<uint32_t>(stage_.partner())};
    int error;
    while ((error = nagaya_llcl_try_message(partner, kHandler, &number, 8, {})) == -EAGAIN)
      continue;
    if (error != 0) right_.store(false);
  }

  const Stage& stage_;
  uint64_t trips_ = 0, heard_ = 0;
  uint32_t over_ = 0;
  std::atomic<bool> right_{true};
};

}  // namespace nagaya::bench
