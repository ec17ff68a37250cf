// SPDX-License-Identifier: BSD-3-Clause
// batch_target.h - a delegatee that hears any bytes from another node. The sanitizers and the
// guards around the one region see what it must not touch.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "delegatee/delegatee.h"
#include "fabric/loopback.h"

namespace nagaya::fuzz {

using namespace nagaya::delegatee;

struct NoLanes : Lanes {
  uint32_t capacity() const override { return 1; }
  size_t drain(Visitor&) override { return 0; }
  void before_sleep() override {}
  void reclaim(uint32_t) override {}
};

// Region 1 of task 0.
struct OneRegion : Regions {
  Memory find(uint32_t task, uint32_t region) override {
    if (task != 0 || region != 1) return {-EINVAL, nullptr, 0};
    return {0, memory + kGuardBytes, 64};
  }
  uint64_t endings() const override { return 0; }
  bool is_guarded() const {
    const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
    return std::all_of(memory, memory + kGuardBytes, is_zero) &&
           std::all_of(memory + kGuardBytes + 64, memory + sizeof memory, is_zero);
  }
  static constexpr size_t kGuardBytes = 64;
  alignas(64) std::byte memory[3 * kGuardBytes] = {};
};

// Task 0 takes what comes, task 1 is full, others are not there. Parts must fit together.
struct Strict : Delivery {
  Delivered deliver(const Message& message) override {
    if (message.task == 1) return Delivered::kFull;
    if (message.offset != come || message.part.size() > message.bytes - message.offset)
      std::abort();
    come = message.offset + message.part.size() == message.bytes ? 0 : come + message.part.size();
    return message.task == 0 ? Delivered::kAccepted : Delivered::kNoSuchTask;
  }
  void abandon(uint32_t) override { come = 0; }
  bool post_completion(uint32_t, uint64_t, int) override { std::abort(); }
  void ring(uint32_t) override { std::abort(); }
  void wake(uint32_t task) override {
    if (task != 0) std::abort();
  }
  void released(uint32_t) override { std::abort(); }
  uint64_t come = 0;
};

// First as a stranger's, who proves nothing, then as node 1's, then as its replay.
inline void hear_batch(const uint8_t* data, size_t bytes) {
  fabric::LoopbackNetwork network(2);
  auto endpoints = fabric::open_all(network, 2);
  if (bytes > endpoints[1]->message_max_bytes()) return;
  const std::vector<Secret> secrets(2);
  const Proofs proofs(secrets, 1, false);
  NoLanes lanes;
  OneRegion regions;
  Strict delivery;
  mailbox::ThreadBell bell{};
  mailbox::Load load{{0}, 1};
  Delegatee delegatee({*endpoints[0], 0, secrets, lanes, regions, delivery, bell, load},
                      {.slots = 16});
  std::vector<std::byte> message(bytes);
  std::copy_n(reinterpret_cast<const std::byte*>(data), bytes, message.begin());
  for (uint64_t time = 0; time < 3; ++time) {
    if (time == 1 && bytes >= sizeof(Prologue)) proofs.sign(0, message);
    endpoints[1]->try_send(0, message.data(), bytes, time);
    delegatee.round();
    fabric::Event events[16];
    endpoints[1]->poll(events);
  }
  if (!regions.is_guarded()) std::abort();
}

}  // namespace nagaya::fuzz
