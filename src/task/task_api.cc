// SPDX-License-Identifier: BSD-3-Clause
// task_api.cc - the C functions of nagaya/task.h that tasks call.
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "nagaya/task.h"
#include "task/space/names.h"
#include "task/space/own_record.h"
#include "task/space/space_heap.h"

namespace nagaya::task {

constinit WipedByFork wiped_by_fork;

namespace {

constexpr int kExitOwnFailure = 125;

// Returns the path of the library, or program, that has this variable.
const char* path_of(const void* variable) {
  Dl_info about;
  return ::dladdr(variable, &about) != 0 ? about.dli_fname : "?";
}

bool is_of_this_build(const TaskRecord& record) {
  return record.stamp.matches(sizeof(TaskRecord)) &&
         record.space->stamp.matches(sizeof(SpaceHeader)) &&
         std::memcmp(record.space->build, build_text, sizeof build_text) == 0;
}

[[noreturn]] void end_with(const char* format, auto... words) {
  ::dprintf(STDERR_FILENO, format, words...);
  ::_exit(kExitOwnFailure);
}

// A process has its own copy of this library. One of another build must not touch the space, and a
// second one would take messages that are for the first: other processes would wait for ever for
// one that takes no part. So both end the process.
TaskRecord* find_record() {
  auto* const record = reinterpret_cast<TaskRecord*>(::getauxval(kAuxvType));
  if (record == nullptr) return nullptr;
  if (!is_of_this_build(*record))
    end_with(
        "nagaya: %s and the nagaya that started this process have different versions: use one "
        "installation\n",
        path_of(&wiped_by_fork));
  const void* first = nullptr;
  // Relaxed: no data depend on it.
  if (record->pid.load(std::memory_order_relaxed) == ::getpid() &&
      !record->own_library.compare_exchange_strong(first, &wiped_by_fork,
                                                   std::memory_order_relaxed) &&
      first != &wiped_by_fork)
    end_with(
        "nagaya: this process has loaded two libraries of nagaya, %s and %s: use one "
        "installation\n",
        path_of(first), path_of(&wiped_by_fork));
  return record;
}

}  // namespace

TaskRecord* find_own_record() {
  // True if this process or an ancestor has found its record: a fork does not clear this flag.
  static std::atomic<bool> was_found;
  if (was_found.load(std::memory_order_acquire))  // found by another thread just now
    return wiped_by_fork.record.load(std::memory_order_relaxed);
  static TaskRecord* const record = find_record();
  // A forked child has the auxiliary vector, too, but only a copy of the space: its pid differs.
  if (record == nullptr || record->pid.load(std::memory_order_acquire) != ::getpid())
    return nullptr;
  static const bool is_wiped =
      ::madvise(&wiped_by_fork, sizeof wiped_by_fork, MADV_WIPEONFORK) == 0;
  if (!is_wiped) return record;  // every call then compares the pid
  wiped_by_fork.record.store(record, std::memory_order_relaxed);
  was_found.store(true, std::memory_order_release);
  return record;
}

namespace {

TaskRecord* record_of(const TaskRecord& self, int task) {
  if (task < 0 || static_cast<uint32_t>(task) >= self.space->capacity) return nullptr;
  return self.space->record(static_cast<uint32_t>(task));
}

// Returns the calling task's record for a function by which tasks meet. From now on other tasks may
// know the task's memory, so that programs which it executes become no tasks (execution.h).
TaskRecord* record_to_communicate() {
  TaskRecord* const self = own_record();
  if (self != nullptr && self->communicates.load(std::memory_order_relaxed) == 0)
    self->communicates.store(1, std::memory_order_relaxed);
  return self;
}

int tasks_alive(const SpaceHeader& space) {
  int alive = 0;
  for (uint32_t number = 0; number < space.capacity; ++number) {
    const TaskState state = space.record(number)->state.load(std::memory_order_relaxed);
    alive += state == TaskState::kStarting || state == TaskState::kRunning ? 1 : 0;
  }
  return alive;
}

}  // namespace
}  // namespace nagaya::task

using namespace nagaya::task;

int nagaya_task_self(void) {
  const TaskRecord* self = own_record();
  return self != nullptr ? static_cast<int>(self->number) : -ESRCH;
}

uint64_t nagaya_space_identity(void) {
  const TaskRecord* self = own_record();
  return self != nullptr ? self->space->identity : 0;
}

int nagaya_task_count(void) {
  const TaskRecord* self = own_record();
  if (self == nullptr) return -ESRCH;
  const uint32_t expected = self->space->expected_tasks;
  return expected != 0 ? static_cast<int>(expected) : tasks_alive(*self->space);
}

int nagaya_task_partition(int task, nagaya_range ranges[2]) {
  const TaskRecord* self = own_record();
  if (self == nullptr) return -ESRCH;
  if (record_of(*self, task) == nullptr) return -EINVAL;
  const SpaceHeader& space = *self->space;
  const auto number = static_cast<uint64_t>(task);
  ranges[0] = {reinterpret_cast<void*>(space.home_base + number * kHomeBytes), kHomeBytes};
  ranges[1] = {reinterpret_cast<void*>(space.range_base + number * space.range_bytes),
               space.range_bytes};
  return 0;
}

int nagaya_task_owner(const void* address) {
  const TaskRecord* self = own_record();
  if (self == nullptr) return -ESRCH;
  const auto at = reinterpret_cast<uint64_t>(address);
  int64_t owner = number_of(*self->space, at);
  if (owner < 0) owner = heap_owner(*self->space->heap, at);
  return owner < 0 ? -ENOENT : static_cast<int>(owner);
}

int nagaya_task_publish(const char* name, const void* address) {
  TaskRecord* self = record_to_communicate();
  return self != nullptr ? publish_name(*self, name, address) : -ESRCH;
}

int nagaya_task_lookup(int task, const char* name, int timeout_ms, void** address) {
  const TaskRecord* self = record_to_communicate();
  if (self == nullptr) return -ESRCH;
  const TaskRecord* owner = record_of(*self, task);
  return owner != nullptr ? look_up_name(*owner, name, timeout_ms, address) : -EINVAL;
}

int nagaya_task_hold(int task) {
  const TaskRecord* self = record_to_communicate();
  if (self == nullptr) return -ESRCH;
  const TaskRecord* held = record_of(*self, task);
  if (held == nullptr) return -EINVAL;
  self->space->hold(self->number, held->number).fetch_add(1, std::memory_order_relaxed);
  return 0;
}

int nagaya_task_release(int task) {
  const TaskRecord* self = own_record();
  if (self == nullptr) return -ESRCH;
  const TaskRecord* held = record_of(*self, task);
  if (held == nullptr) return -EINVAL;
  std::atomic<uint32_t>& count = self->space->hold(self->number, held->number);
  uint32_t before = count.load(std::memory_order_relaxed);
  // Release: pairs with the host's acquire in is_held(): the caller's reads come before.
  while (before != 0 && !count.compare_exchange_weak(before, before - 1, std::memory_order_release,
                                                     std::memory_order_relaxed))
    continue;
  return before != 0 ? 0 : -EINVAL;
}

void* nagaya_heap_alloc(size_t bytes) {
  TaskRecord* self = record_to_communicate();
  return self != nullptr ? heap_allocate(*self, bytes) : nullptr;
}

int nagaya_heap_free(void* block) {
  if (block == nullptr) return 0;
  TaskRecord* self = own_record();
  return self != nullptr ? heap_free(*self, block) : -ESRCH;
}

const char* nagaya_strerror(int code) {
  const char* text = ::strerrordesc_np(code < 0 ? -code : code);
  return text != nullptr ? text : "unknown error";
}
