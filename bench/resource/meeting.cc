// SPDX-License-Identifier: BSD-3-Clause
#include "meeting.h"

#include <sched.h>
#include <sys/mman.h>

#include <new>
#include <stdexcept>

#include "nagaya/task.h"

namespace nagaya::bench {
namespace {

constexpr int kPatienceMs = 20000;
constexpr int kSpins = 2000;  // about the time of one wake-up

Meeting& published_meeting(int rank) {
  void* block = nullptr;
  if (rank == 0) {
    block = nagaya_heap_alloc(sizeof(Meeting));
    if (block == nullptr) throw std::runtime_error("the space heap is exhausted");
    new (block) Meeting{};
    if (const int error = nagaya_task_publish("meeting", block); error < 0)
      throw std::runtime_error(nagaya_strerror(error));
  } else if (const int error = nagaya_task_lookup(0, "meeting", kPatienceMs, &block); error < 0) {
    throw std::runtime_error(std::string("lookup: ") + nagaya_strerror(error));
  }
  return *static_cast<Meeting*>(block);
}

}  // namespace

void meet(Meeting& meeting, uint32_t ranks) {
  const uint32_t generation = meeting.generation.load(std::memory_order_relaxed);
  if (meeting.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
    meeting.arrived.store(0, std::memory_order_relaxed);
    meeting.generation.store(generation + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; meeting.generation.load(std::memory_order_acquire) == generation; ++spins) {
    if (spins < kSpins) continue;
    if (meeting.failed.load(std::memory_order_relaxed) != 0)
      throw std::runtime_error("another rank failed");
    ::sched_yield();
  }
}

Meeting& find_meeting(int rank) {
  if (nagaya_task_self() >= 0) return published_meeting(rank);
  void* mapped =
      ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, kMeetingFd, 0);
  if (mapped == MAP_FAILED) throw std::runtime_error("cannot map the meeting");
  return *static_cast<Meeting*>(mapped);
}

}  // namespace nagaya::bench
