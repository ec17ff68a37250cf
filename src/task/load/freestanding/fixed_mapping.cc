// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/freestanding/fixed_mapping.h"

namespace nagaya::task {
namespace {

using arch::raw_syscall;

// A line of text that one write call prints.
class Line {
 public:
  Line& text(const char* text) {
    while (*text != '\0') put(*text++);
    return *this;
  }
  Line& number(uint64_t value, unsigned base) {
    char digits[20];
    int count = 0;
    do digits[count++] = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  void write() const { raw_syscall(__NR_write, 2, bytes_, size_); }

 private:
  void put(char c) {
    if (size_ < sizeof bytes_) bytes_[size_++] = c;
  }

  char bytes_[256];
  size_t size_ = 0;
};

void say_once(const TaskRecord& task, uint32_t other, uint64_t address) {
  if (task.space->said_fixed.exchange(1, std::memory_order_relaxed) != 0) return;
  Line()
      .text("nagaya: tasks ")
      .number(other, 10)
      .text(" and ")
      .number(task.number, 10)
      .text(" both map memory at the fixed address 0x")
      .number(address, 16)
      .text(", and all tasks share one address space: use `nagaya run --separate`\n")
      .write();
}

bool has_fixed(const TaskRecord& task, uint64_t begin, uint64_t end) {
  const TaskState state = task.state.load(std::memory_order_acquire);
  if (state != TaskState::kStarting && state != TaskState::kRunning) return false;
  for (const FixedMapping& one : task.fixed)
    if (one.begin.load(std::memory_order_relaxed) < end &&
        one.end.load(std::memory_order_relaxed) > begin)
      return true;
  return false;
}

// Changes an entry. Clears `end` first: a reader between the stores sees a shorter mapping or none.
void set(FixedMapping& mapping, uint64_t begin, uint64_t end) {
  mapping.end.store(0, std::memory_order_relaxed);
  mapping.begin.store(begin, std::memory_order_relaxed);
  mapping.end.store(end, std::memory_order_relaxed);
}

}  // namespace

bool enter_fixed(TaskRecord& task, uint64_t begin, uint64_t end) {
  const LockedRanges lock(task);
  FixedMapping* room = nullptr;
  for (FixedMapping& one : task.fixed) {
    const Span known{one.begin.load(std::memory_order_relaxed),
                     one.end.load(std::memory_order_relaxed)};
    if (known.holds(begin, end)) return false;
    if (room == nullptr && known.end == 0) room = &one;
  }
  if (!lock.held() || room == nullptr) return false;
  set(*room, begin, end);
  return true;
}

void leave_fixed(TaskRecord& task, uint64_t begin, uint64_t end) {
  const LockedRanges lock(task);
  if (!lock.held()) return;
  for (FixedMapping& one : task.fixed) {
    const uint64_t from = one.begin.load(std::memory_order_relaxed);
    const uint64_t to = one.end.load(std::memory_order_relaxed);
    if (from >= end || to <= begin) continue;
    if (begin <= from && to <= end)
      set(one, 0, 0);
    else if (begin <= from)
      set(one, end, to);
    else if (to <= end)
      set(one, from, begin);  // else a hole in the middle, which stays entered
  }
}

void leave_fixed_at(TaskRecord& task, uint64_t begin) {
  const LockedRanges lock(task);
  for (FixedMapping& one : task.fixed)
    if (lock.held() && one.begin.load(std::memory_order_relaxed) == begin) set(one, 0, 0);
}

bool is_fixed_by_other(const TaskRecord& task, uint64_t begin, uint64_t end) {
  if (raw_syscall(__NR_getpid) != task.pid.load(std::memory_order_relaxed)) return false;
  // Orders the store of the own entry before the loads of the others'; pairs with this same fence
  // in another task.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (uint32_t number = 0; number < task.space->capacity; ++number) {
    if (number == task.number || !has_fixed(*task.space->record(number), begin, end)) continue;
    say_once(task, number, begin);
    return true;
  }
  return false;
}

}  // namespace nagaya::task
