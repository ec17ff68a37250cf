// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/names.h"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include "task/space/futex.h"
#include "task/space/space_heap.h"

namespace nagaya::task {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1000000000;

// FNV-1a: all copies of this library must agree, whatever standard library built them.
size_t bucket_of(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash % kNameBuckets;
}

// Returns true if the owner's `generation`-th task still lives: then all reads before this call saw
// its own names. After its end the names' memory may be another task's, so no link in it is
// followed.
bool lives(const TaskRecord& owner, uint32_t generation) {
  // Acquire: orders the earlier reads before the loads below. Pairs with the release of kEnded in
  // mark_ended(), which precedes the host's reuse of the memory.
  std::atomic_thread_fence(std::memory_order_acquire);
  const TaskState state = owner.state.load(std::memory_order_acquire);
  return (state == TaskState::kStarting || state == TaskState::kRunning) &&
         owner.generation.load(std::memory_order_relaxed) == generation;
}

// Returns the task's entry for `name`; nullptr if there is none or the task has ended.
Name* find(const TaskRecord& owner, uint32_t generation, const char* name) {
  // Acquire: pairs with the release of the push in publish_name().
  Name* entry = owner.names[bucket_of(name)].load(std::memory_order_acquire);
  while (entry != nullptr && lives(owner, generation)) {
    if (std::strncmp(entry->text, name, sizeof entry->text) == 0) return entry;
    entry = entry->next.load(std::memory_order_relaxed);
  }
  return nullptr;
}

int64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNanosecondsPerSecond + now.tv_nsec;
}

}  // namespace

int publish_name(TaskRecord& self, const char* name, const void* address) {
  if (std::strlen(name) >= sizeof Name::text) return -ENAMETOOLONG;
  {
    const std::lock_guard<SpinLock> guard(self.names_lock);
    Name* entry = find(self, self.generation.load(std::memory_order_relaxed), name);
    if (entry == nullptr) {
      void* block = heap_allocate(self, sizeof(Name));
      if (block == nullptr) return -ENOMEM;
      entry = new (block) Name{};
      std::strcpy(entry->text, name);
      std::atomic<Name*>& bucket = self.names[bucket_of(name)];
      entry->next.store(bucket.load(std::memory_order_relaxed), std::memory_order_relaxed);
      entry->address.store(address, std::memory_order_relaxed);
      bucket.store(entry, std::memory_order_release);
    } else {
      // Release: pairs with the acquire in look_up_name().
      entry->address.store(address, std::memory_order_release);
    }
  }
  self.names_changed.fetch_add(1, std::memory_order_release);
  futex_wake_all(self.names_changed);
  return 0;
}

int look_up_name(const TaskRecord& owner, const char* name, int timeout_ms, void** address) {
  if (std::strlen(name) >= sizeof Name::text) return -ENAMETOOLONG;
  const int64_t deadline_ns = now_ns() + int64_t{timeout_ms} * 1000000;
  for (;;) {
    // Read before the search: any later publication changes this word, on which futex_wait()
    // sleeps.
    const uint32_t seen = owner.names_changed.load(std::memory_order_acquire);
    const uint32_t generation = owner.generation.load(std::memory_order_acquire);
    const TaskState state = owner.state.load(std::memory_order_acquire);
    if (state == TaskState::kEnded) return -EOWNERDEAD;
    if (state != TaskState::kFree) {
      const Name* entry = find(owner, generation, name);
      const void* found =
          entry != nullptr ? entry->address.load(std::memory_order_acquire) : nullptr;
      if (!lives(owner, generation)) continue;
      if (found != nullptr) {
        *address = const_cast<void*>(found);
        return 0;
      }
    }
    if (timeout_ms == 0) return -ENOENT;
    const int64_t left_ns = deadline_ns - now_ns();
    if (timeout_ms > 0 && left_ns <= 0) return -ETIMEDOUT;
    const timespec left{left_ns / kNanosecondsPerSecond, left_ns % kNanosecondsPerSecond};
    futex_wait(owner.names_changed, seen, timeout_ms > 0 ? &left : nullptr);
  }
}

}  // namespace nagaya::task
